"""Files that malsim reads and writes: paths, outputs, tables, SQLite files and TOML."""
