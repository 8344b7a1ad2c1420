"""Real claims through the real gate and tick."""

from malsim.sim.replay.feed import Replay, replay

__all__ = ["Replay", "replay"]
