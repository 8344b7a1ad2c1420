"""Reading and writing of files: paths, output files, tables, SQLite databases and TOML."""
