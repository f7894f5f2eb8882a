"""The configuration: catalogues say what there is, the config selects from them by lists of names.

All of it is checked before any job runs; a mistake is one line that names the key and what is allowed.
"""
