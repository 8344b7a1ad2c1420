"""Hypothesis profiles and the selection of quick and nightly tests.

Hypothesis draws the same examples in each run; HYPOTHESIS_PROFILE=whole or search draws more. A test is quick unless
`slow.txt` lists it: `pytest -m quick`. `pytest --note-slow` writes that list. A push runs only a sample of the cases of
tests in `nightly.txt`, and quick runs only a sample of some tests in `slow.txt`.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

# one thread per process, because pytest-xdist runs one process per core
for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("whole", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

SLOW, NIGHTLY = (Path(__file__).parent / name for name in ("slow.txt", "nightly.txt"))
LIMIT = 0.15  # maximum mean duration of a quick test's cases, in seconds
_SECONDS: defaultdict[str, list[float]] = defaultdict(list)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for long fuzzing and for updating the list of slow tests."""
    parser.addoption("--fuzz-seconds", type=float, default=0.0, metavar="N", help="fuzz each format for N seconds")
    parser.addoption("--note-slow", action="store_true", help=f"list tests over {LIMIT} s per case in tests/slow.txt")


def name_of(nodeid: str) -> str:
    """Return a test's name without its parameters, or the file's name if the test is a check in a scenario file.

    All checks in a scenario file share one run, so leaving out a single check would save no time.
    """
    file, _, _ = nodeid.partition("::")
    return file if file.endswith(".toml") else nodeid.partition("[")[0]


def listed(path: Path) -> dict[str, int]:
    """Read a list of tests as {name: n}. Every nth case of a test is kept, or no case if n is 0."""
    lines = (line.partition("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines())
    return {words[0]: int(words[1]) if words[1:] else 0 for words in lines if words}


def put_off(items: list[pytest.Item], tests: dict[str, int]) -> set[pytest.Item]:
    """Return the test cases that a list excludes."""
    cases: Counter[str] = Counter()
    left_out = set()
    for item in items:
        name = name_of(item.nodeid)
        if name in tests and (not tests[name] or cases[name] % tests[name]):
            left_out.add(item)
        cases[name] += 1
    return left_out


@pytest.hookimpl(tryfirst=True)  # so that `-m` sees the markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests listed in `nightly.txt` as nightly, and tests in neither list as quick."""
    nightly = put_off(items, listed(NIGHTLY))
    slow = put_off(items, listed(SLOW))
    for item in items:
        if item in nightly:
            item.add_marker("nightly")
        if item not in slow and item.get_closest_marker("nightly") is None:
            item.add_marker("quick")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Record each test's duration, including its fixtures."""
    if report.when != "teardown":
        _SECONDS[name_of(report.nodeid)].append(report.duration)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the list of slow tests if requested. Worker processes of pytest-xdist do not write the list."""
    if session.config.getoption("--note-slow") and not hasattr(session.config, "workerinput"):
        samples = listed(SLOW)
        slow = sorted(name for name, seconds in _SECONDS.items() if sum(seconds) > LIMIT * len(seconds))
        lines = [f"{name} {samples[name]}" if samples.get(name) else name for name in slow]
        SLOW.write_text("\n".join([*lines, ""]), encoding="utf-8")
