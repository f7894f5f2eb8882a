"""Analysis: scores become tables, by statistics, comparison with published values, and tests of claims."""
