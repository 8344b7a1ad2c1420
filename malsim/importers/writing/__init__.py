"""Export of stores to other formats. `malsim export --as` accepts the names of these modules."""
