"""Tests of corrections and erasures by people: permissions, scopes, and answers about past days."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import StoreError, UsageError
from malsim.cli import main
from malsim.memory import Memory, Rules, admit
from malsim.memory.gate.edit import reinstate
from malsim.memory.graph.tombstones import rows_about
from malsim.memory.push.ask import ask
from malsim.memory.store import Store
from malsim.memory.store.corrections import allow, correct, forget
from malsim.netlist import render

if TYPE_CHECKING:
    from pathlib import Path

GOVERNED = Rules.governed()


def claim(t: float, writer: str, object_: str, value: str, **more: Any) -> dict[str, Any]:
    title = f"{object_} is {value}"
    return {
        "t": t, "writer": writer, "kind": "obs", "object": object_, "value_text": value, "title": title,
        "body": f"by {writer}", "confidence": 0.7,
    } | more  # fmt: skip


def derived(t: float, writer: str, object_: str, value: str, source: str) -> dict[str, Any]:
    return claim(t, writer, object_, value, edges=[{"relation": "derived_from", "target": source}])


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    with Store(tmp_path / "m.sqlite") as store:
        first, second = store.admit([claim(1.0, "ann", "port", "kilobo"), claim(1.0, "ann", "host", "zumera")])["handle"]
        store.admit([derived(2.0, "bob", "wall", "lets kilobo in", first), derived(2.0, "bob", "dns", "nalu", second)])
        for body in ("kilobo as measured", "kilobo once more"):
            store.update(first, writer="ann", now=2.0, body=body)
        store.tick(3.0)
    return tmp_path / "m.sqlite"


def all_outputs(path: Path) -> str:
    with Store(path, write=False) as store:
        frames = (store.memory.cells, store.at(2.0).cells, store.verdicts, store.updates(store.memory.cells["handle"][0]))
        shown = [str(frame.to_dicts()) for frame in frames]
        shown += [str(store.mini_index("kilobo port wall")), render(store.memory)]
    for form in ("jsonl", "recall"):
        output = path.with_name(f"out.{form}")
        assert main(["export", str(path), "--as", form, "-o", str(output)]) == 0
    return "\n".join([*shown, *(file.read_bytes().decode("latin-1") for file in path.parent.iterdir())])


def test_forgotten_text_disappears_from_store_and_outputs(path: Path) -> None:
    assert "kilobo" in all_outputs(path)
    for file in path.parent.glob("out.*"):
        file.unlink()
    with Store(path) as store:
        after = store.forget("port", "Kilobo", by="ann", now=10.0)
        assert after.cells["title"].to_list() == ["(erased)", "host is zumera", "(erased)", "dns is nalu"]
        assert store.ticks.row(-1, named=True)["writer"] == "ann"
    shown = all_outputs(path)
    assert "kilobo" not in shown
    assert "zumera" in shown
    with Store(path) as store:
        assert store.recorded.cells.equals(after.cells)


def test_forgotten_value_is_refused_until_allowed(path: Path) -> None:
    other = claim(20.0, "importer", "port", " kiloBo", title="it was noted that the port stands at kilobo")
    with Store(path) as store:
        store.forget("port", by="ann", now=10.0)
        verdict = store.admit([other, claim(20.0, "bob", "port", "nalu")])
        assert sorted(verdict["verdict"]) == ["admitted", "refused"]
        refused = verdict.filter(verdict["verdict"] == "refused").row(0, named=True)
        assert (refused["writer"], refused["issues"][0]["path"]) == ("importer", "value")
        store.allow("port", "kilobo", by="ann", now=25.0)
        assert store.admit([other | {"t": 26.0}])["verdict"].to_list() == ["admitted"]


def test_another_process_does_not_restore_forgotten_text(path: Path) -> None:
    with Store(path) as store:
        before = store.memory
        store.forget("port", by="ann", now=10.0)
        with pytest.raises(StoreError, match="holds data that this memory lacks"):
            store.save(before, t=11.0)


def test_corrected_cell_is_not_reinstated(path: Path) -> None:
    with Store(path) as store:
        memory = store.correct("host", "zumera", by="ann", now=10.0, rules=GOVERNED)
    status = reinstate(memory, memory.cells["handle"][1]).cells["status"].to_list()
    assert status == ["active", "annexed", "active", "annexed"]  # the derived cell is annexed too


@pytest.mark.parametrize(
    ("rules", "by", "may"),
    [
        (Rules(), "zoe", True), (GOVERNED, "zoe", False), (GOVERNED, "bob", True), (GOVERNED, "human", True),
        (GOVERNED.replace(verifiers="*"), "zoe", True), (GOVERNED.replace(supersede_by="better_calibrated"), "zoe", False),
    ],
)  # fmt: skip
def test_only_permitted_people_may_correct(rules: Rules, by: str, *, may: bool) -> None:
    memory = admit(Memory.empty(), [claim(1.0, "ann", "x", "a"), claim(1.0, "bob", "x", "a")]).memory
    rows = rows_about(memory, 0, "x", "a")
    if not may:
        with pytest.raises(UsageError, match="not allowed to retract"):
            correct(memory, rows, None, now=2.0, by=by, rules=rules)
        return
    after = correct(memory, rows, None, now=2.0, by=by, rules=rules).memory
    assert after.cells["status"].to_list() == ["annexed"] * 2


def test_only_the_writer_may_erase_a_claim() -> None:
    memory = admit(Memory.empty(), [claim(1.0, "ann", "x", "a")]).memory
    rows = rows_about(memory, 0, "x")
    for by, where in (("zoe", rows), ("ann", rows_about(memory, 0, "y"))):
        with pytest.raises(UsageError):
            forget(memory, where, now=2.0, by=by, rules=Rules())
    erased = forget(memory, rows, now=2.0, by="ann", rules=Rules())
    with pytest.raises(UsageError, match="no cell states this value"):
        allow(erased, 0, "x", "b", by="ann", rules=Rules())
    locked = memory.with_cells(memory.cells.with_columns(locked=np.array([True])))
    with pytest.raises(UsageError, match="locked"):
        forget(locked, rows, now=2.0, by="ann", rules=Rules())


@pytest.mark.parametrize("rules", [Rules(), GOVERNED])
def test_corrected_value_is_refused_only_if_rules_say_so(rules: Rules) -> None:
    memory = admit(Memory.empty(), [claim(1.0, "ann", "x", "a"), claim(1.0, "ann", "z", "k")]).memory
    right = {"title": "x is b", "value_text": "b"}
    memory, verdicts = correct(memory, rows_about(memory, 0, "x", "a"), right, now=20.0, by="ann", rules=rules)
    assert verdicts["verdict"].to_list() == ["admitted"]
    again = admit(memory, [claim(30.0, "dan", "x", "a"), claim(30.0, "eve", "x", "a")], rules)
    assert set(again.verdicts["verdict"]) == ({"admitted"} if rules == Rules() else {"refused"})
    first = ask(again.memory, "x", now=31.0)["value"][0]
    assert first == ("a" if rules == Rules() else "b")
    assert ask(again.memory, "x", now=31.0, as_of=15.0)["value"].to_list() == ["a"]
    assert ask(again.memory, "z", now=31.0).select("value", "status", "valid_from").row(0) == ("k", "current", 1.0)


def test_rejected_value_can_be_restored_by_a_correction() -> None:
    memory = admit(Memory.empty(), [claim(1.0, "ann", "x", "a")]).memory
    for old, new, t in (("a", "b", 2.0), ("b", "a", 3.0), ("a", "b", 4.0)):
        right = {"title": f"x is {new}", "value_text": new}
        memory, _ = correct(memory, rows_about(memory, 0, "x", old), right, now=t, by="ann", rules=GOVERNED)
        assert ask(memory, "x", now=t)["value"].to_list() == [new]


CLAIMS = st.tuples(st.sampled_from("abc"), st.sampled_from(["ann", "bob", "cid"]), st.none() | st.integers(-5, 9))


@given(st.lists(CLAIMS, min_size=1, max_size=5), st.data())
def test_later_claims_do_not_change_answers_about_past_days(claims: list[Any], data: st.DataObject) -> None:
    memory, then = Memory.empty(), []
    for day, (value, writer, start) in enumerate(claims):
        rows = rows_about(memory, 0, "x", value)
        rows = rows[np.isnan(memory.values("rejected", rows))]
        if rows.size and data.draw(st.booleans()):
            by = memory.cells["writer"][int(rows[0])]
            memory = correct(memory, rows, None, now=float(day), by=by, rules=Rules()).memory
        else:
            words = claim(float(day), writer, "x", value, valid_from=start, body=f"{writer} {day}")
            memory = admit(memory, [words], GOVERNED).memory
        then.append(ask(memory, "x", now=float(day)))
    for day, before in enumerate(then):
        assert ask(memory, "x", now=99.0, as_of=float(day)).equals(before)


def test_scopes_are_separate_until_cells_are_shared(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "m.sqlite")) as store:
        hers, his = (store.rep_of(name, make=True) for name in ("hers", "his"))
        store.admit([claim(1.0, "ann", "x", "secret", rep=hers), claim(1.0, "bob", "z", "plain", rep=his)])

        def shown(scope: str) -> tuple[list[str], bool]:
            push = str(store.mini_index("x z secret plain", rep=store.rep_of(scope)))
            return store.ask("x", now=2.0, scope=scope)["value"].to_list(), "secret" in push

        assert [shown(scope) for scope in ("hers", "his", "", "nobody")] == [(["secret"], True), *[([], False)] * 3]
        store.share("x", "his", scope="hers", now=3.0, by="ann")
        assert shown("his") == (["secret"], True)
        assert shown("") == ([], False)
        store.unshare("x", "his", scope="hers", now=4.0, by="ann")
        assert shown("his") == ([], False)
        edge = {"relation": "contradicts", "target": store.memory.cells["handle"][0]}
        verdict = store.admit([claim(5.0, "bob", "w", "no", rep=store.rep_of("", make=True), edges=[edge])])
        assert verdict["verdict"].to_list() == ["refused"]  # an edge cannot lead to a cell of another scope
