"""A scenario file: its schema, its tables, and how it is read and written."""
