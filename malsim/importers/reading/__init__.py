"""What every importer reads with."""
