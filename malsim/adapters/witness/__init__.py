"""Witnesses as scripts: the calls of a package, of a server or of a memory of one's own, without malsim."""
