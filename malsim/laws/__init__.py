"""Laws: what other memories make of a stream of claims, one file each; being in this folder is being registered.

A law is a module: its docstring says in a sentence what the memory does, then the equation, the source, and what the model
leaves out; its `Param`s declare what can be set, its `ItemField`s the columns of an item; `write`, `tick`, `read`, `rank`
and `belief` are there where they do something. `engine` runs it and is not a law.
"""

from malsim.laws.engine.definition import Law
from malsim.laws.engine.play import play
from malsim.laws.engine.registry import faulty_laws, find_law, plant_of, registry_reset, shipped_laws, unproven_laws

__all__ = ["Law", "faulty_laws", "find_law", "plant_of", "play", "registry_reset", "shipped_laws", "unproven_laws"]
