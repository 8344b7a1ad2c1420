"""A page that is used for long: its process keeps to its memory, and a long run shows how far it is."""

from __future__ import annotations

from pathlib import Path

import pytest

import malsim as ms
from malsim.lab.workbench.changes import Tuning
from malsim.lab.workbench.page.live_page import LivePage


def resident() -> int:
    """Bytes of this process that stand in memory."""
    status = Path("/proc/self/status")
    if not status.is_file():
        pytest.skip("the memory of a process is read from /proc")
    line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS"))
    return 1024 * int(line.split()[1])


@pytest.mark.nightly
def test_many_changes_keep_the_memory() -> None:
    base = Tuning(base=ms.read("scenarios/worked_example.toml"))
    page = LivePage(base, lambda call: call(), at_once=True)
    early = 0
    for step in range(3_600):
        page.change(base.with_value("rules.challenge_ceiling", 0.1 + 0.8 * (step % 97) / 97))
        if step == 300:
            early = resident()
    assert resident() <= 1.1 * early


def test_a_long_run_reports_its_progress() -> None:
    shares: list[float] = []
    tuning = Tuning(base=ms.read("scenarios/poisoner.toml")).with_value("run.replications", 99)
    page = LivePage(tuning, lambda call: call(), at_once=True)
    page.bar.param.watch(lambda event: shares.append(event.new), "progress")
    page.change(tuning)
    assert shares[-1] == -1.0
    assert len(shares) > 2
    assert shares[:-1] == sorted(shares[:-1])
    assert page.result is not None
