"""Replay of recorded claims, forks of runs, and the push shown in a past turn."""

from malsim.sim.replay.feed import Replay, replay

__all__ = ["Replay", "replay"]
