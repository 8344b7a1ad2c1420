"""Numbers, bits and arrays whose elements may be solver terms."""
