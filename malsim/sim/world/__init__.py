"""World of a run: facts whose truth changes over time, the clock, and addressed random draws."""

from malsim.sim.world.truth import SENSES, Fact, TruthChanges, World

__all__ = ["SENSES", "Fact", "TruthChanges", "World"]
