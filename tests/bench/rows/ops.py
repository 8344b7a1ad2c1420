"""Benchmark of ops over 10,000 channels: time per sample relative to libraries that process one sample at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import ops
from tests.bench.rows.ratios import compare, peer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.bench.rows.ratios import Ratio

__all__ = ["rows"]

CHANNELS, STEPS = 10_000, 1_000
THEIRS = 20_000


def rows() -> Iterator[Ratio]:
    signal = np.random.default_rng(11).normal(size=(STEPS, CHANNELS))
    samples = signal.ravel()[:THEIRS].tolist()
    mean = peer("river.stats").EWMean(fading_factor=0.3)
    detector = peer("river.drift").PageHinkley()
    controller = peer("simple_pid").PID(2.0, 0.1, 0.05, setpoint=0.0, sample_time=None)

    def smooth() -> None:
        for sample in samples:
            mean.update(sample)
            mean.get()

    def detect() -> None:
        for sample in samples:
            detector.update(sample)
            detector.drift_detected  # noqa: B018 - a property that is asked for

    def control() -> None:
        for sample in samples:
            controller(sample, dt=1.0)

    inputs = {"command": np.zeros_like(signal), "feedback": signal}
    gains = {"Pgain": 2.0, "Igain": 0.1, "Dgain": 0.05, "enable": True}
    yield _row("smooth / river EWMean", "smooth", {"in": signal}, smooth, 40)
    yield _row("page-hinkley / river PageHinkley", "page-hinkley", {"in": signal}, detect, 20)
    yield _row("pid / simple-pid", "pid", inputs, control, 20, gains)


def _row(
    name: str, op: str, inputs: Mapping[str, Any], theirs: Callable[[], object], limit: float,
    settings: Mapping[str, object] | None = None,
) -> Ratio:  # fmt: skip
    sheet = ops.load(op)

    def ours() -> object:
        return ops.run(sheet, ops.start(sheet, CHANNELS, settings), inputs, tick="1d", outs=[])

    work = CHANNELS * STEPS / THEIRS
    title = f"{name} ({CHANNELS:,} channels × {STEPS:,} steps)"
    return compare(title, ours, theirs, limit=limit, repeats=3, at_least=True, work=work)
