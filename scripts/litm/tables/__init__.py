"""The tables of results: a typed row for each, with its columns, and how a table is read and written."""
