"""Stores in other formats, so that nothing is locked in: one file a format, by the name that `malsim export --as` takes."""
