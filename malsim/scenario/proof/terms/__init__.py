"""Numbers, bits and arrays that may be a solver's terms."""
