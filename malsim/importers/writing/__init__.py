"""Export of stores to other formats, so that nothing is locked in: a module per name that `malsim export --as` takes."""
