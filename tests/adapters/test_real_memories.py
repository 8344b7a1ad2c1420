"""Real memory packages without network access: they complete a run and answer like their minimal models."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

import malsim as ms
from malsim.adapters.contract import Claim, Query
from malsim.adapters.engine.adapter import Adapter
from malsim.adapters.engine.host import Ask, Host
from malsim.base.errors import AdapterError
from malsim.laws import play

POISONER = Path(__file__).parents[2] / "scenarios/poisoner.toml"
SERVER = Path(__file__).with_name("small_mcp_server.py")
A_B_A = [(0.0, "A"), (1.0, "B"), (2.0, "A")]
SMALL = f"mcp:{sys.executable} {SERVER}"
PACKAGES = {
    "malsim.adapters.langgraph:in_memory": "langgraph",
    "malsim.adapters.langgraph:sqlite": "langgraph",
    "malsim.adapters.mem0:without_model": "mem0",
    SMALL: "json",
}
MODELS = {
    "malsim.adapters.langgraph:in_memory": "last_write",
    "malsim.adapters.langgraph:sqlite": "last_write",
}
STREAMS = 30


@pytest.fixture(params=PACKAGES, ids=lambda name: name.rpartition("/")[2].removeprefix("malsim.adapters."))
def name(request: pytest.FixtureRequest) -> str:
    skip_without(PACKAGES[request.param])
    return str(request.param)


def skip_without(package: str) -> None:
    if find_spec(package) is None:
        pytest.skip(f'{package} is not installed: pip install -c constraints.txt -e ".[memories]"')


def shown_by(name: str, claims: Sequence[tuple[float, str]]) -> list[tuple[str, float]]:
    """Return the values and ranks that a real memory returns after one claim per (day, value) pair."""
    host = Host(name, name)
    asks = [Ask(0, "factory")]
    asks += [Ask(0, "write", day, [Claim(day, "ann", "o", value, f"o is {value}", 0.7)]) for day, value in claims]
    day = claims[-1][0]
    answers, broken = host.run([*asks, Ask(0, "peek", day, Query("o", "what is o?"), 10), Ask(0, "close")])
    assert not broken
    return sorted((item.value or item.text, round(item.rank, 9)) for item in answers[-2])


def streams() -> Iterator[list[tuple[float, str]]]:
    """Yield the values A, B, A, then random streams of three values. Every third stream has unordered times."""
    yield A_B_A
    draw = Random(1)  # noqa: S311  # the streams must be repeatable
    for number in range(STREAMS):
        times = [round(draw.choice([40.0, 2.0]) * draw.random(), 2) for _ in range(draw.randint(2, 6))]
        yield [(day, draw.choice("ABC")) for day in (times if number % 3 == 0 else sorted(times))]


@pytest.mark.filterwarnings("ignore")
def test_real_memory_completes_a_run(name: str) -> None:
    run = ms.run(POISONER, memory=Adapter.of(name, trusted=True), days=12.0, replications=2)
    assert not run.failures
    assert run.signals.filter(signal="right").height
    assert run.cells["effective"].null_count() == run.cells.height


@pytest.mark.filterwarnings("ignore")  # importing the package raises warnings
@pytest.mark.parametrize("name", MODELS)
def test_minimal_model_answers_like_the_real_package(name: str) -> None:
    skip_without(PACKAGES[name])
    for claims in streams():
        model = play(MODELS[name], *(f"{day} {value}" for day, value in claims))
        assert shown_by(name, claims) == sorted((value, round(rank, 9)) for value, rank in model), claims


@pytest.mark.filterwarnings("ignore")
def test_mem0_stores_repeats_only_without_a_language_model() -> None:
    skip_without("mem0")
    assert [value for value, _ in shown_by("malsim.adapters.mem0:without_model", A_B_A)] == ["A", "A", "B"]
    assert play("mem0_additive", "0 A", "1 B", "2 A") == [("A", 1.0), ("B", 1.0)]


def test_server_without_tools_or_with_failures_is_reported() -> None:
    with pytest.raises(AdapterError, match="the server has no tools to write and read claims"):
        ms.run(POISONER, memory=f"{SMALL} deaf")
    with pytest.raises(AdapterError, match="the server ended"):
        ms.run(POISONER, memory=f"mcp:{sys.executable} -c pass")
    host = Host(SMALL, "mcp")
    _, broken = host.run([Ask(0, "factory"), Ask(0, "write", 0.0, [Claim(0.0, "ann", "o", "explode", "o will explode")])])
    host.run([Ask(0, "close")])
    assert "no such word" in broken[0].problem
