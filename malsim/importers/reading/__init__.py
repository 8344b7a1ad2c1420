"""What every importer reads with: sources, dates, fields, notes, git; and the cells and edges it hands on."""
