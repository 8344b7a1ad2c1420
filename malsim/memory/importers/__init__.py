"""Other memories' data, read as it stands and never written: Recall's proposals, archives and databases."""
