"""What the rules are made of: inputs, settings and resources of jobs, lines on the console, files of other runs.

rules/common.smk makes the objects that the rules use from these modules.
"""
