"""The configuration: catalogues define entries, the config selects entries by name.

Everything is checked before any job runs. A mistake gives one line that names the key and lists the allowed values.
"""
