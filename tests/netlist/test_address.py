"""Tests of how addresses are parsed, printed and evaluated."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import AddressError, MalsimError
from malsim.memory import Memory, admit
from malsim.memory.schema import RELATIONS
from malsim.netlist import NetlistError, load
from malsim.netlist.engine import Engine
from malsim.netlist.evaluate import Frames, evaluate
from malsim.netlist.language.address import Field, Hop, Path, Pin, Reduced, Row, address
from malsim.netlist.language.lexicon import DOMAINS, REDUCERS

fields = st.text("abc_", min_size=1, max_size=4).map(Field)
hops = st.builds(Hop, st.sampled_from(RELATIONS), st.booleans(), st.booleans()) | st.builds(
    Hop, st.just("*"), st.booleans(), st.just(True)
)
handles = st.sampled_from(["dec_a3ee", "obs_auth_9c1f", "RECALL_v5"])
paths = st.builds(Path, handles, st.lists(fields | hops, max_size=5).map(tuple), st.none() | st.integers(1, 99))
names = st.text("abc09-", min_size=1, max_size=5).filter(lambda name: name[0] != "-" and not name.startswith("-"))
rows = st.builds(
    Row,
    st.sampled_from(DOMAINS),
    st.lists(fields.map(lambda field: field.name), min_size=1, max_size=2).map(tuple),
    st.just("") | names,
)
addresses: st.SearchStrategy[Any] = (
    paths | rows | st.builds(Reduced, st.sampled_from(REDUCERS), paths | rows.filter(lambda row: not row.name))
)
addresses |= st.builds(Pin, names.filter(lambda name: name.split("-")[0] not in DOMAINS), names)


@given(addresses)
def test_printed_address_parses_to_an_equal_address(point: Any) -> None:
    assert address(str(point)) == point


@given(st.text(max_size=30) | st.text("dec_a3.~*-@v(mean)", max_size=30))
def test_any_text_parses_as_an_address_or_raises_a_typed_error(text: str) -> None:
    try:
        point = address(text)
    except AddressError:
        return
    assert address(str(point)) == point


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not an address"),
        ("dec_a3ee supports", "space"),
        ("dec_zzzz.supports", "lowercase hex"),
        ("dec_a3ee.nope", "no such relation"),
        ("dec_a3ee..supports", "must name a relation"),
        ("dec_a3ee-", "empty field name"),
        ("mean(below)", "needs an address with more"),
        ("mean(mean(dec_a3ee.supports.*))", "needs an address with more"),
        ("most(dec_a3ee.supports.*)", "no such reducer"),
        ("a..b", "is empty"),
    ],
)
def test_invalid_address_error_states_the_reason(text: str, message: str) -> None:
    with pytest.raises(AddressError, match=message):
        address(text)


CELLS = pl.DataFrame(
    {
        "t": [0.0] * 4 + [1.0] * 5,
        "rep": [0] * 9,
        "cell": [*"0123", *"01234"],
        "effective": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
        "stated": [0.5] * 9,
        "locked": [False, True] * 4 + [True],
        "status": ["active"] * 6 + ["superseded", "active", "active"],
        "title": [*"abcdabcde"],
    }
).with_columns(pl.format("dec_000{}", "cell").alias("cell"))
EDGES = pl.DataFrame(
    [
        ("1", "supports", "0", 0.5, 0.0),
        ("2", "supports", "0", 1.0, 0.0),
        ("3", "contradicts", "0", -1.0, 0.0),
        ("4", "supports", "0", 1.0, 1.0),
        ("0", "depends_on", "3", 0.0, 0.5),
        ("4", "supersedes", "2", 0.0, 1.0),
    ],
    schema=["source", "relation", "target", "weight", "t"],
    orient="row",
).with_columns(*[pl.format("dec_000{}", end).alias(end) for end in ("source", "target")])
WRITERS = pl.DataFrame({"t": [0.0, 0.0], "rep": [0, 0], "writer": ["ann", "bob"], "claims": [3, 5]})
SIGNALS = pl.DataFrame(
    {"t": [0.0, 1.0], "rep": [0, 0], "signal": ["low", "low"], "row": [None, None], "value": [0.0, 1.0]},
    schema_overrides={"row": pl.String},
)
FRAMES = Frames(CELLS, EDGES, WRITERS, SIGNALS)


@pytest.mark.parametrize(
    ("where", "values"),
    [
        ("dec_0000-scores-eff", [0.1, 0.5]),
        ("dec_0004-scores-eff", [0.9]),
        ("dec_0001-flags-locked", [True, True]),
        ("dec_0000-title", ["a", "a"]),
        ("dec_0000.~contradicts-scores-eff", [0.4, 0.8]),
        ("dec_0000.depends_on-scores-eff", [0.8]),
        ("dec_0000.~supports.*-scores-eff", [0.2, 0.3, 0.6, 0.9]),
        ("dec_0000.~*-scores-eff", [0.2, 0.3, 0.4, 0.6, 0.8, 0.9]),
        ("dec_0003.contradicts.~supports.*-scores-eff", [0.2, 0.3, 0.6, 0.9]),
        ("dec_0002@v1-scores-eff", [0.3, 0.7]),
        ("dec_0002@v2-scores-eff", [0.9]),
        ("mean(dec_0000.~supports.*-scores-eff)", [0.25, 0.75]),
        ("sum(dec_0001.~supports.*-scores-eff)", [0.0, 0.0]),
        ("mean(dec_0001.~supports.*-scores-eff)", [None, None]),
        ("count(dec_0000.~supports.*)", [2, 2]),
        ("max(dec_0000.~*-scores-eff)", [0.4, 0.9]),
        ("min(dec_0000.~*-scores-eff)", [0.2, 0.6]),
        ("share(dec_0000.~supports.*-flags-locked)", [0.5, 1.0]),
        ("share(cell-flags-locked)", [0.5, 0.75]),
        ("sum(writer-claims)", [8, 0]),
        ("writer(bob)-claims", [5]),
        ("low", [0.0, 1.0]),
    ],
)
def test_address_has_a_value_at_every_tick(where: str, values: list[object]) -> None:
    assert evaluate(where, FRAMES)["value"].to_list() == pytest.approx(values)


def test_series_contains_every_value_in_order() -> None:
    assert evaluate("series(dec_0000.~supports.*-scores-eff)", FRAMES)["value"].to_list() == [[0.2, 0.3], [0.6, 0.9]]


def test_rows_name_the_cell_of_each_value() -> None:
    values = evaluate("cell-scores-eff", FRAMES, at=0.9)
    assert values.columns == ["t", "rep", "row", "value"]
    assert values["row"].to_list() == ["dec_0000", "dec_0001", "dec_0002", "dec_0003"]


def test_at_option_selects_the_last_tick_by_that_time() -> None:
    assert evaluate("dec_0000-scores-eff", FRAMES, at=0.7)["value"].to_list() == [0.1]
    assert evaluate("dec_0000-scores-eff", FRAMES, at=9.0)["value"].to_list() == [0.5]
    assert evaluate("dec_0000-scores-eff", FRAMES, at=-1.0).is_empty()


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("dec_ffff-scores-eff", "no such cell"),
        ("dec_0000-scores-nope", "no such field"),
        ("dec_0000-flags-eff", "no such field"),
        ("dec_0000-a-b-c", "no such field"),
        ("dec_0000.~supports-scores-eff", "more than one"),
        ("dec_0000@v2", "no such version"),
        ("topic-claims", "rows of this domain were not recorded"),
        ("writer(eve)-claims", "no such writer"),
        ("high", "no such signal"),
    ],
)
def test_unknown_name_in_address_is_reported(where: str, message: str) -> None:
    with pytest.raises(MalsimError, match=message):
        evaluate(where, FRAMES)


def test_values_of_different_replications_do_not_mix() -> None:
    both = pl.concat([CELLS, CELLS.with_columns(rep=pl.lit(1, pl.Int64), effective=pl.col("effective") / 2)])
    edges = pl.concat([EDGES.with_columns(rep=pl.lit(0, pl.Int64)), EDGES[:1].with_columns(rep=pl.lit(1, pl.Int64))])
    values = evaluate("mean(dec_0000.~supports.*-scores-eff)", Frames(both, edges))
    assert values.sort("rep", "t")["value"].to_list() == pytest.approx([0.25, 0.75, 0.1, 0.3])


def test_addresses_can_be_evaluated_on_a_memory() -> None:
    base = {"writer": "ann", "verification": "external", "kind": "obs"}
    supports, supersedes = ([{"relation": name, "target": "obs_a1a1"}] for name in ("supports", "supersedes"))
    claims: list[dict[str, Any]] = [
        {"handle": "obs_a1a1", "title": "one", "confidence": 0.8},
        {"handle": "obs_b2b2", "title": "two", "confidence": 0.6, "edges": supports},
        {"handle": "obs_c3c3", "title": "three", "confidence": 0.7, "edges": supersedes},
    ]
    memory, _ = admit(Memory.empty(), [base | claim for claim in claims])
    frames = Frames.of(memory, t=2.0)
    assert evaluate("obs_a1a1.~supports-scores-conf", frames)["value"].to_list() == [0.6]
    assert evaluate("obs_a1a1@v2-title", frames)["value"].to_list() == ["three"]
    assert evaluate("obs_c3c3@v1-status", frames)["value"].to_list() == ["superseded"]
    assert evaluate("writer(ann)-claims", frames)["t"].to_list() == [2.0]


@pytest.mark.parametrize(
    ("where", "right"),
    [
        ("dec_0004#scores.eff", "dec_0004-scores-eff"),
        ("dec_0001#flags.locked", "dec_0001-flags-locked"),
        ("mean(dec_0000.~supports.*#scores.eff)", "mean(dec_0000.~supports.*-scores-eff)"),
    ],
)
def test_address_with_a_hash_sign_is_refused_with_a_correction(where: str, right: str) -> None:
    with pytest.raises(AddressError) as refused:
        evaluate(where, FRAMES, at=1.0)
    assert refused.value.hint == f"write {right}"
    assert evaluate(right, FRAMES, at=1.0).height


def test_shortened_handle_resolves_to_the_only_match() -> None:
    item = FRAMES.cells.filter(pl.col("cell") == "dec_0000").with_columns(cell=pl.lit("dec_auth_0f3e"))
    frames = Frames(pl.concat([FRAMES.cells, item]), FRAMES.edges)
    assert evaluate("dec_auth_0f-scores-eff", frames)["value"].to_list() == pytest.approx([0.1, 0.5])
    with pytest.raises(AddressError, match=r"several handles begin with this prefix.*dec_0000, dec_0001"):
        evaluate("dec_0-scores-eff", frames)
    with pytest.raises(AddressError, match="no such cell"):
        evaluate("dec_f-scores-eff", frames)


TWO = 'dec_a3ee "one" conf(.7) eff(.7)\ndec_b1b1 "two" conf(.5) eff(.5)\n'
WATCH = "loadrt watch names=weak\nnet low weak.in < {}\naddf weak tick\n"


@pytest.mark.parametrize("where", ["dec_a3-scores-eff", "dec_a3ee-scores-eff"])
def test_netlist_accepts_a_shortened_handle(where: str) -> None:
    loaded = load(TWO + WATCH.format(where) + "dec_b-flags-annexed = true  # a comment\n")
    engine = Engine(loaded.net, tick=3600.0)
    scan = engine.scan(engine.start(loaded.memory), loaded.memory, {}, now=0.0)
    assert scan.state.signals["low"].tolist() == [0.7]
    assert loaded.memory.cells["annexed"].to_list() == [False, True]


def test_ambiguous_handle_prefix_is_refused_in_a_netlist() -> None:
    text = TWO + 'dec_a3ff "three" conf(.5)\n' + WATCH.format("dec_a3-scores-eff") + "dec_a-flags-pinned = true\n"
    with pytest.raises(NetlistError) as error:
        load(text)
    problem = "several handles begin with this prefix"
    assert [(fault.line, fault.problem) for fault in error.value.faults] == [(5, problem), (7, problem)]


def test_expand_accepts_handle_prefixes_and_field_addresses() -> None:
    memory = load(TWO).memory
    assert memory.expand("dec_a3").cell["handle"] == memory.expand("a3ee").cell["handle"] == "dec_a3ee"
    values = [str(memory.expand(f"dec_a3ee{path}")) for path in ("#scores.eff", "-scores-eff", "#flags.pinned")]
    assert values == ["0.7", "0.7", "False"]
    with pytest.raises(AddressError, match="several handles begin with this prefix"):
        load(TWO + 'dec_a3ff "three" conf(.5)').memory.expand("dec_a3")
    with pytest.raises(AddressError, match="no such field"):
        memory.expand("dec_a3ee#scores.nope")
