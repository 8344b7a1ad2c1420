"""Whom to believe: the arithmetic of the law `records`, arrays in and arrays out."""
