"""Price of establishing a lie or the truth: published table, user memories, stores, and invalid input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.prices import STRATEGIES, WAYS, closed_world, price_of, standing_world
from malsim.judging.prices.pricing import Stage
from malsim.judging.prices.worlds import with_ticks
from malsim.memory import Memory, Rules, admit
from malsim.memory.store import save_memory
from tests.judging.axioms.planted.defects import PlainVote
from tests.judging.axioms.planted.sound import Sound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim
    from malsim.judging.axioms.engine.events import Event
    from malsim.judging.prices import ClaimWorld

SLOW = ("recall_v5",)  # laws that are slow to price, so they are tested only in the nightly run
TABLE: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "price" / "k3.json").read_text())


@pytest.mark.parametrize("law", [pytest.param(law, marks=[pytest.mark.nightly] if law in SLOW else []) for law in TABLE])
def test_prices_of_each_law_match_the_published_table(law: str) -> None:
    assert price_of(subject_of(law), closed_world()).counts() == TABLE[law]


@given(
    honest=st.integers(1, 5), n=st.integers(1, 8), name=st.sampled_from([*STRATEGIES]), gap=st.floats(0.1, 3.0),
)  # fmt: skip
@settings(max_examples=50, deadline=None)
def test_stream_is_ordered_and_ends_with_a_tick(honest: int, n: int, name: str, gap: float) -> None:
    world = closed_world(honest, gap=gap)
    events = STRATEGIES[name](world, n)
    stream = with_ticks(world, events)
    assert [event.t for event in stream] == sorted(event.t for event in stream)
    assert [event.do for event in stream].count("write") == len(world.past) + sum(event.do == "write" for event in events)
    assert stream[-1].do == "tick"
    assert 0.0 < stream[-1].t - events[-1].t <= 1.0
    assert {event.writer for event in stream} <= {*world.vocabulary.writers, "ann"}


def truth_then_lie(world: ClaimWorld, n: int) -> list[Event]:
    """Return claims in which n new writers first state the truth and then the lie."""
    times = [world.start + world.gap * index for index in range(2 * n)]
    values = [world.truth] * n + [world.lie] * n
    return [world.says(t, f"s{index % n + 1}", value) for index, (t, value) in enumerate(zip(times, values, strict=True))]


@given(
    st.fixed_dictionaries({"honest": st.integers(3, 6), "gap": st.floats(0.05, 3.0)}
                          | dict.fromkeys(("stated", "lie_stated"), st.floats(0.5, 0.99)))
)  # fmt: skip
@settings(max_examples=8, deadline=None)
@pytest.mark.nightly
def test_two_true_claims_change_an_answer_but_three_lies_do_not(numbers: dict[str, Any]) -> None:
    world = closed_world(**numbers)
    stage = Stage(subject_of(Rules.guarded()), world)
    assert all(stage.lead(steps(world, n)) > 0.0 for steps in (*STRATEGIES.values(), truth_then_lie) for n in (1, 2, 3))
    assert all(stage.lead(WAYS[way](world, 2)) < 0.0 for way in ("each", "corrects"))


def test_guarded_rules_resist_liars_in_a_hostile_world() -> None:
    world = closed_world(4, stated=0.6, lie_stated=0.99, gap=2.0)
    stage = Stage(subject_of(Rules.guarded()), world)
    assert all(
        stage.lead(steps(world, 3)) > 0.0 for steps in (STRATEGIES["earns"], STRATEGIES["supersedes"], truth_then_lie)
    )
    assert stage.lead(WAYS["corrects"](world, 2)) < 0.0


@pytest.mark.nightly
@pytest.mark.parametrize(("honest", "least"), [(3, 4), (4, 5), (5, 6)])
def test_guarded_rules_have_the_expected_prices(honest: int, least: int) -> None:
    found = price_of(subject_of(Rules.guarded()), closed_world(honest))
    assert (found.lie_identities, found.truth_claims) == (least, 2)
    assert {name: item.price for name, item in found.lie.items() if item.price} == {"sybils": 2 * honest - 1, "earns": least}
    assert {way: item.price for way, item in found.truth.items()} == {"each": 2, "one": None, "denies": 2, "corrects": 2}
    assert len([event for event in found.lie["earns"].witness if event.do == "write"]) == 7 * least


def test_user_memory_has_the_price_of_the_law_it_copies() -> None:
    mine, law = ms.price(PlainVote, "majority", most=4).prices
    assert mine.counts() == law.counts()
    assert (mine.lie_claims, mine.lie_identities, mine.truth_claims, mine.gap) == (4, 4, 2, 2.0)
    assert mine.lie_days == 1.5
    assert [event.writer for event in mine.witness] == ["s1", "s2", "s3", "s4"]


class Mute(Sound):
    def write(self, claims: Sequence[Claim], now: float) -> None: ...

    def items(self, object_: str, now: float) -> list[dict[str, Any]]:  # noqa: ARG002
        return [{"id": 1, "object": object_, "value": "B", "rank": 0.5, "belief": 0.5}]


def test_memory_that_never_answers_the_truth_has_no_price() -> None:
    with pytest.raises(
        UsageError, match=r"Mute: the memory never answers A about x before the lie begins; given: 'B: 0\.5'"
    ):
        ms.price(Mute)


def test_price_can_be_computed_from_stored_claims(tmp_path: Path) -> None:
    claims = [(0.0, "ann", "pump", 1.0), (3.0, "bob", "pump", 1.0), (5.0, "cid", "pump", 2.0), (6.0, "ann", "valve", 3.0)]
    rows = [
        {
            "t": t,
            "writer": writer,
            "kind": "obs",
            "title": f"{writer} {t}",
            "object": name,
            "value": value,
            "confidence": 0.6,
        }
        for t, writer, name, value in claims
    ]
    store = tmp_path / "memory.sqlite"
    save_memory(admit(Memory.empty(), rows).memory, store)
    majority = subject_of("majority")
    found = price_of(majority, standing_world(store, "pump", majority))
    assert (found.lie["sybils"].price, found.lie["repeats"].price) == (3, None)
    with pytest.raises(UsageError, match="pumb"):
        standing_world(store, "pumb", majority)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["majority", "--honest", "0"], "honest: out of bounds; given: 0; allowed: 1 or more"),
        (["majority", "--most", "0"], "most: out of bounds"),
        (["majority", "--case", "sybil"], "no such case"),
        (["majority", "--on", "memory.sqlite"], "--on and --fact are needed together"),
        (["majority", "--fact", "pump"], "--on and --fact are needed together"),
    ],
)
def test_bad_input_is_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "--only", "price", *words]) == 2
    assert message in capsys.readouterr().err


def test_command_writes_table_page_and_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, figure = tmp_path / "price.html", tmp_path / "prices.png"
    assert main(["judge", "last_write", "majority", "--only", "price", "--html", str(page), "-o", str(tmp_path)]) == 0
    assert "3/4" in capsys.readouterr().out
    assert "s4 says x is B" in page.read_text()
    assert figure.stat().st_size > 0
    assert main(["judge", "majority", "--only", "price", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"prices": {"majority": TABLE["majority"]}}


def test_fork_does_not_change_its_parent_memory() -> None:
    stage = Stage(subject_of("mal"), closed_world())
    first = stage.lead(WAYS["corrects"](closed_world(), 2))
    stage.lead(STRATEGIES["repeats"](closed_world(), 3))
    assert stage.lead(WAYS["corrects"](closed_world(), 2)) == first < 0
