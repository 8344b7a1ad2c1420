"""Test bench that runs ops over recorded frames and measures their responses to test signals."""

from ops.bench.halsampler import read_samples
from ops.bench.over import over
from ops.bench.response import frequency, respond
from ops.bench.sweep import run

__all__ = ["frequency", "over", "read_samples", "respond", "run"]
