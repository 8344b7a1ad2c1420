"""Ratios that must hold: each row times two callables in turn in one process and compares their medians.

One file a family; a file yields rows from `rows()`, and being in this folder is being registered.
"""

from malsim.lab.benchmarks.ratios import Ratio, compare, every_row

__all__ = ["Ratio", "compare", "every_row"]
