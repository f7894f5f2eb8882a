"""Common parts of all kinds of figures: the rows they read, the chart as plain data, and its drawing."""
