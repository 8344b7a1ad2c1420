"""Laws that model how memories score a stream of claims. Each module in this folder is one law, registered under its name.

A law's module docstring says what the memory does, and gives the equation, the source, and what the model leaves out.
`Param`s declare the law's parameters, `ItemField`s the columns of its items. The functions `write`, `tick`, `read`,
`rank` and `belief` are all optional.
"""

from malsim.laws.engine.definition import Law
from malsim.laws.engine.play import play
from malsim.laws.engine.registry import faulty_laws, find_law, plant_of, registry_reset, shipped_laws, unproven_laws

__all__ = ["Law", "faulty_laws", "find_law", "plant_of", "play", "registry_reset", "shipped_laws", "unproven_laws"]
