"""Tests for parsing and rendering properties: round trips, the normal form, and errors with their column."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malsim.base.errors import ScenarioError
from malsim.scenario.properties import Property
from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.parse import WORDS, parse
from malsim.scenario.properties.render import render
from tests.scenario.test_properties_margins import compositions

ADDRESSES = (
    "obs_a1a1-scores-eff", "dec_a3ee@v2-status", "RECALL_v5-flags-pinned", "is-weak", "either.in-0", "once.out", "x", "é_1",
    "writer(ann)-claims", "low(obs_a1a1)", "mean(dec_a3ee.~supports.*-scores-curr)", "min", "share", "not.out", "order",
)  # fmt: skip

finite = st.floats(-1e9, 1e9, allow_nan=False).map(lambda value: value + 0.0)
positive = st.floats(0, 1e6, exclude_min=True)
texts: st.SearchStrategy[stl.Value] = st.text(max_size=8).map(stl.Text)
reading = st.sampled_from(ADDRESSES).map(stl.Read)


def _applied(inner: st.SearchStrategy[stl.Value]) -> st.SearchStrategy[stl.Value]:
    return st.one_of(
        inner.filter(lambda value: not isinstance(value, stl.Number)).map(lambda value: stl.Apply("negative", (value,))),
        st.builds(lambda function, value: stl.Apply(function, (value,)), st.sampled_from(["abs", "prev"]), inner),
        st.builds(lambda function, left, right: stl.Apply(function, (left, right)), st.sampled_from("+-*/"), inner, inner),
        st.builds(
            lambda function, many: stl.Apply(function, tuple(many)),
            st.sampled_from(["min", "max"]),
            st.lists(inner, min_size=2, max_size=3),
        ),
    )


values: st.SearchStrategy[stl.Value] = st.recursive(reading | finite.map(stl.Number), _applied, max_leaves=4)
counts = st.integers(0, 99).map(stl.Bound)
bounds = st.builds(stl.Bound, st.floats(0, 1e5), st.sampled_from(["ms", "s", "min", "h", "d", "w"])) | counts


@st.composite
def windows(draw: st.DrawFn) -> stl.Window | None:
    low, high = draw(bounds), draw(st.none() | bounds)
    try:
        return stl.Window(low, high)
    except ScenarioError:
        return None


names = st.sampled_from(sorted(WORDS)) | st.from_regex(r"[a-z_]{1,6}", fullmatch=True) | st.text(max_size=6)
leaves: st.SearchStrategy[stl.Formula] = st.one_of(
    st.builds(stl.Compare, reading, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), values, st.none() | positive),
    st.builds(stl.Compare, st.sampled_from(["x", "low(obs_a1a1)"]).map(stl.Read), st.sampled_from(["==", "!="]), texts),
    st.builds(stl.Bit, reading),
    st.builds(stl.AtEvent, names, st.none() | names),
)
formulas = compositions(leaves, windows(), 6)


@given(formulas)
def test_every_formula_can_be_parsed_back_from_its_text(formula: stl.Formula) -> None:
    text = render(formula)
    assert parse(text) == formula
    assert render(parse(text)) == text
    assert Property(formula).text == Property(text).text == text


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from([*sorted(WORDS), *ADDRESSES, "(", ")", "[0:3d]", "<", "-", ",", ".5"])).map(" ".join)
)
@example("")
@example("\n")
@example('"')
@example("not " * 3000 + "x")
@example("(" * 5000)
@example("(" * 4999 + "x" + ")" * 4999)
@example("x" + " - x" * 2000 + " > 1")
@example("always[0:99999999999999999999999999d] x")
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        formula = parse(text)
    except ScenarioError:
        return
    assert parse(render(formula)) == formula


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("always eff(x_a1a1)>.3 and not(tripped)", "always (eff(x_a1a1) > 0.3) and not tripped"),
        ("a > 1 or b > 1 and c > 1", "a > 1 or b > 1 and c > 1"),
        ("(a > 1 or b > 1) and c > 1", "(a > 1 or b > 1) and c > 1"),
        ("(a implies b) implies c", "(a implies b) implies c"),
        ("a implies (b implies c)", "a implies b implies c"),
        ("a - (b - c) * -2 > +3 scale .1", "a - (b - c) * -2 > 3 scale 0.1"),
        ("a until[1d:2h] b", None),
        ("not tripped until [ 0 : 3d ] at event ( tripped , low )", "not tripped until[0:3d] at event(tripped, low)"),
        ("once[3:] x", "once[3:] x"),
        ("mean(eff(d_a1.~supports.*)) > 0", "mean(eff(d_a1.~supports.*)) > 0"),
        ('"obs_a1a1-flags-pinned" == true', '"obs_a1a1-flags-pinned" == 1'),
        ('status(obs_a1a1) == "superseded"', 'status(obs_a1a1) == "superseded"'),
    ],
)
def test_properties_have_one_normal_form(text: str, canonical: str | None) -> None:
    if canonical is None:
        with pytest.raises(ScenarioError, match="ends before it begins"):
            parse(text)
    else:
        assert render(parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "column", "excerpt", "words"),
    [
        ("", 1, None, "ends too early"),
        ("alway (eff(x) > 2)", 7, "(eff(x) > 2)", "did you mean 'always' for 'alway'"),
        ("eff(x) > 1 and eff(y", 21, None, "ends too early"),
        ("always[3:10d] x", 7, "[3:10d]", "ticks or in time, not both"),
        ("always[5:3] x", 7, "[5:3]", "ends before it begins"),
        ("always[2.5:3] x", 7, "[2.5:3]", "counts whole ticks"),
        ("1 < x < 3", 7, "< 3", "unexpected text"),
        ("x > 3 and 3", 11, "3", "compare it"),
        ("x > (y > 3)", 5, "(y > 3)", "a value is expected"),
        ('x + "a" > 3', 5, '"a"', "a number is expected here, not a string"),
        ("1 < 2", 1, "1 < 2", "never changes"),
        ("x > 1 scale 0", 1, "x > 1 scale 0", "above 0"),
        ("min(3) > x", 1, "min(3)", "two or more"),
        ("mean(x + 1) > 2", 1, "mean(x + 1)", "one wildcard address"),
        ("x and\n y @ 3", 4, "@ 3", "line 2"),
        ('always status(x) != "supersedd"', 8, 'status(x) != "supersedd"', "active, superseded, annexed"),
        ("not " * 70 + "x", 41, None, "nested more than 60 levels deep"),
    ],
)
def test_parse_errors_contain_column_and_hint(text: str, column: int, excerpt: str | None, words: str) -> None:
    with pytest.raises(ScenarioError, match=words) as refused:
        parse(text)
    assert (refused.value.where or "").endswith(f"column {column}")
    assert excerpt is None or refused.value.given == excerpt
    assert refused.value.hint


def test_property_lists_its_addresses_and_time_horizon() -> None:
    formula = parse("always[0:2d] (x > 1 implies eventually[0:3] (prev(y) < eff(obs_a1a1))) and once[9d:] x > 2")
    assert stl.reads(formula) == ("x", "y", "obs_a1a1-scores-eff")
    assert stl.reach(formula, 1000) == 2 * 86_400_000 + 3 * 1000


@pytest.mark.parametrize(
    ("text", "correct"),
    [
        ("dec_a3ee-scores-eff > 0", "eff(dec_a3ee)"),
        ('"dec_a3ee-scores-eff" > 0', "eff(dec_a3ee)"),
        ("dec_a3ee#scores.eff > 0", "eff(dec_a3ee)"),
        ("dec_a3ee-effective > 0", "eff(dec_a3ee)"),
        ("mean(dec_a3ee.~supports.*-scores-curr) > 0", "curr(dec_a3ee.~supports.*)"),
        ("m1-scores-eff > 0", "eff(m1)"),
        ("dec_a3ee-flags-locked == 1", '"dec_a3ee-flags-locked"'),
        ("writer(ann)-claims > 1", '"writer(ann)-claims"'),
        ("item(pump-0)-status == 1", "status(item(pump-0))"),
    ],
)
def test_misspelling_is_refused_with_the_correct_spelling(text: str, correct: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        parse(text)
    assert refused.value.hint == f"write {correct}"
    parse(text.replace(str(refused.value.given), correct))


def test_name_with_spaces_is_quoted() -> None:
    text = 'always (right("cause of the outage") == 1)'
    assert render(parse(text)) == text
    assert stl.reads(parse(text)) == ("right(cause of the outage)",)
