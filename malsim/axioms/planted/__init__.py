"""Planted defects: a small sound memory, and one way after the other to be wrong, each for the axiom that is to find it."""

from malsim.axioms.planted.library import SOUND, Planted, planted_defects

__all__ = ["SOUND", "Planted", "planted_defects"]
