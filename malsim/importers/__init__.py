"""Other memories' data, read as it stands and never written."""
