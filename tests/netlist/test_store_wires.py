"""Tests of a store with a tripwire, used from the shell, Python and a protocol client, against a run of the same claims."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import malsim as ms
from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.netlist import read
from malsim.netlist.shipped.store_wires import changes, load_all, wire_signals

if TYPE_CHECKING:
    from collections.abc import Callable

TRIPWIRE = Path(ms.__file__).parents[1] / "scenarios" / "tripwire.malnet"
AGAINST = {"kind": "obs", "writer": "bob", "title": "it locked", "confidence": 1.0, "source_refs": ["a"]}
ACCUSES = [{"relation": "contradicts", "target": "dec_a3ee"}]
DAYS = (1.0, 2.0, 3.0, 4.0)
ACKNOWLEDGED = {2.0: 1.0, 3.0: 0.0}  # input value that is set after the tick of each day


def values(path: Path) -> dict[str, float]:
    with ms.Store(path, write=False) as store:
        return dict(wire_signals(store.recorded, store.standing).select("signal", "value").rows())


def loaded(path: Path) -> None:
    with ms.Store(path) as store:
        store.wire(lambda memory, standing: load_all(memory, standing, [read(TRIPWIRE)], ms.Rules()))


def by_python(path: Path) -> list[dict[str, float]]:
    loaded(path)
    seen = []
    for day in DAYS:
        with ms.Store(path) as store:
            if day == 1.0:
                store.admit([{**AGAINST, "t": 0.5, "edges": ACCUSES}])
            store.tick(day)
            if day in ACKNOWLEDGED:
                store.set_input("reviewer.ack", ACKNOWLEDGED[day], writer="rita", now=day)
        seen.append(values(path))
    return seen


def by_shell(path: Path) -> list[dict[str, float]]:
    assert main(["netlist", "load", str(TRIPWIRE), "-o", str(path)]) == 0
    seen = []
    for day in DAYS:
        if day == 1.0:
            claim = ["--writer", "bob", "--title", "it locked", "--confidence", "1", "--source", "a", "--now", "0.5"]
            assert main(["store", "write", str(path), *claim, "--edge", "contradicts dec_a3ee"]) == 0
        assert main(["store", "tick", str(path), "--now", str(day)]) == 0
        if day in ACKNOWLEDGED:
            assert main(["hal", str(path), "-c", f"setp reviewer.ack {ACKNOWLEDGED[day]:g}"]) == 0
        seen.append(values(path))
    return seen


def by_client(path: Path) -> list[dict[str, float]]:
    from mcp import Client

    from malsim.agents.server import memory_server
    from malsim.agents.service import MemoryService

    loaded(path)
    now, seen = [0.5], []

    async def talk() -> None:
        opened: Callable[[], MemoryService] = lambda: MemoryService(path, writer="bob", clock=lambda: now[0])  # noqa: E731
        async with Client(memory_server(opened, inputs=True)) as client:

            async def say(tool: str, **arguments: Any) -> str:
                answer = await client.call_tool(tool, arguments)
                return " ".join(getattr(part, "text", "") for part in answer.content)

            for day in DAYS:
                if day == 1.0:
                    await say("claim", title="it locked", confidence=1.0, source_refs=["a"], edges=ACCUSES)
                now[0] = day
                with ms.Store(path) as store:
                    store.tick(day)
                seen.append(values(path))
                assert re.search(rf"tripped +{seen[-1]['tripped']:g} ", await say("wires"))
                if day in ACKNOWLEDGED:
                    assert "next tick" in await say("set_input", name="reviewer.ack", value=ACKNOWLEDGED[day])

    asyncio.run(talk())
    return seen


@pytest.mark.parametrize("live", [by_python, by_shell, by_client])
def test_tripwire_trips_clears_and_trips_again(live: Callable[[Path], Any], tmp_path: Path) -> None:
    seen = live(tmp_path / "m.sqlite")
    assert [item["tripped"] for item in seen] == [1.0, 1.0, 0.0, 1.0]
    assert seen == by_python(tmp_path / "again.sqlite")


def test_store_signals_equal_the_signals_of_a_run(tmp_path: Path) -> None:
    wires = TRIPWIRE.read_text(encoding="utf-8")
    (tmp_path / "wires.malnet").write_text(wires, encoding="utf-8")
    claim = '[[claim]]\nat = "0.5d"\nwriter = "bob"\ntitle = "it locked"\nconfidence = 1.0\nsource_refs = ["a"]\n'
    edge = '[[claim.edges]]\nrelation = "contradicts"\ntarget = "dec_a3ee"\n'
    text = f'why = "x"\n[run]\ndays = 2\n[netlist]\nfile = "wires.malnet"\n{claim}{edge}'
    (tmp_path / "run.toml").write_text(text, encoding="utf-8")
    run = ms.run(tmp_path / "run.toml", record="all", record_every=1)
    for day, seen in zip((1.0, 2.0), by_python(tmp_path / "m.sqlite"), strict=False):
        ran = dict(run.signals.filter(t=day).select("signal", "value").rows())
        assert {name: ran[name] for name in seen} == seen


def test_setter_of_an_input_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    by_python(path)
    with ms.Store(path) as store:
        events = store.events.filter(kind="set")
        assert events.select("t", "subject", "detail", "cause").rows() == [
            (2.0, "reviewer.ack", "1", "rita"), (3.0, "reviewer.ack", "0", "rita"),
        ]  # fmt: skip
        with pytest.raises(UsageError, match="no such input"):
            store.set_input("reviewer.ask", 1, writer="rita", now=5.0)
        with pytest.raises(UsageError, match="not a bit"):
            store.set_input("reviewer.ack", "perhaps", writer="rita", now=5.0)


def test_saved_session_preserves_wires_and_their_state(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    by_python(path)
    before = values(path)
    assert main(["hal", str(path), "-c", "save"]) == 0
    assert values(path) == before
    assert main(["hal", str(path), "-c", "gets tripped"]) == 0


def test_changed_netlist_preserves_state_of_unchanged_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, changed = tmp_path / "m.sqlite", tmp_path / "changed.malnet"
    by_python(path)
    text = TRIPWIRE.read_text(encoding="utf-8")
    wires = text.replace("setp stale.level 0.4", "setp stale.level 0.3").replace("weak,stale", "weak,stale,third", 1)
    changed.write_text(f"{wires}\nnet third third.in < dec_a3ee-scores-sal\naddf third tick\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["netlist", "load", str(changed), "-o", str(path)]) == 0
    assert "added: third" in capsys.readouterr().out
    assert values(path)["tripped"] == 1.0
    with ms.Store(path) as store:
        store.tick(9.0)
        assert changes(store.standing.text, "") == ["removed: alarm either severity stale third weak"]
    assert values(path)["tripped"] == 1.0
