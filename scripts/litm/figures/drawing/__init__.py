"""What the kinds of figures have in common: the rows they read, the chart as plain data, and how it is drawn."""
