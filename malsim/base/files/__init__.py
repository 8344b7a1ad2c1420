"""Reading and writing of files: paths, outputs, tables, SQLite files and TOML."""
