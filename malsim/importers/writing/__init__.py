"""Export of stores to other formats; `malsim export --as` takes the names of these modules."""
