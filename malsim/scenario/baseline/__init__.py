"""Recorded frames, and how far a later run may be from them."""
