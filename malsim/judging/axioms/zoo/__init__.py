"""Defect zoo: shipped defects, each as a scenario that a repaired law passes and the shipped law fails."""

from malsim.judging.axioms.zoo.defects import DEFECTS, Defect, find_defect
from malsim.judging.axioms.zoo.sides import Sides, sides

__all__ = ["DEFECTS", "Defect", "Sides", "find_defect", "sides"]
