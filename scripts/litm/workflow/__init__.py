"""Plan of the workflow: all that the rules use, and the only package that they import.

`Plan` has the inputs, params and resources of every rule as methods.
"""
