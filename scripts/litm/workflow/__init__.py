"""What the rules are made of, and the only package that they import.

`Plan` has the inputs, params and resources of every rule as methods.
"""
