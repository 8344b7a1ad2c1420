"""What an agent does at a store: it orients itself, is pushed lines, opens cells, claims, corrects, asks why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.agents.wall_clock import wall_clock
from malsim.base.errors import UsageError
from malsim.base.plain_text import one_line
from malsim.memory.push.mini_index import BUDGET_WORDS, LIMIT
from malsim.memory.push.ten_cells import MAP, ten_cells
from malsim.memory.rules import Rules
from malsim.memory.store import Store
from malsim.memory.store.store_rules import for_stores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.push import Push

LONGEST = 100_000  # characters of one text
DIGEST = 5  # cells that an agent is shown when a session begins
EXPECTATIONS = "REF_expectations_0005"


class MemoryService:
    """One agent's place at a store; each call is one transaction of the store, and passes its gate, screen and locks.

    Parameters
    ----------
    path
        The store; made where there is none. A store that holds nothing yet begins with the ten cells.
    writer
        In whose name claims are made.
    rules
        The rules of the memory.
    scope
        In whose name cells are kept apart: it reads those of its scope and what others share with it.
    clock
        What day it is; by default the wall clock's, from the date of the store's day 0.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        writer: str = "agent",
        rules: Rules | None = None,
        scope: str = "",
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.rules = for_stores(rules or Rules())
        self.store, self.writer = Store(path), writer
        self.scope, self.rep = scope, self.store.rep_of(scope, make=True)
        self.now = clock or wall_clock(self.store)
        self.store.bootstrap(self.now(), rep=self.rep)

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    def orient(self) -> str:
        """Catch up; return the map, what writers owe, and the cells that rank first."""
        self.tick()
        fixed = {row["handle"]: row["body"] for row in ten_cells().iter_rows(named=True)}
        cells = self.store.height
        parts = [
            f"This memory holds {cells} cells. Nobody's word is taken as it is: each line says what it is worth now.",
            fixed[MAP], fixed[EXPECTATIONS], str(self.push(limit=DIGEST)),
        ]  # fmt: skip
        return "\n\n".join(part for part in parts if part)

    def push(self, objective: str = "", *, budget: int = BUDGET_WORDS, limit: int = LIMIT) -> Push:
        """The lines that bear on what is to be done, within a budget of words, with what disputes them."""
        text = _bounded(objective, "objective")
        return self.store.mini_index(text, budget_words=budget, limit=limit, now=self.now(), rep=self.rep, rules=self.rules)

    def expand(self, cell: str) -> str:
        """One cell opened: its scores term by term, text, neighbours, versions; that it was read is noted."""
        return str(self.store.expand(_bounded(cell, "cell"), now=self.now(), rep=self.rep, rules=self.rules))

    def claim(self, title: str, confidence: float, **fields: Any) -> dict[str, Any]:
        """Propose a claim; the gate's verdict on it, a row of `schema.VERDICTS`. Fields are those of claims."""
        from malsim.netlist.programs import checked

        claim = {"kind": "obs", "rep": self.rep, "writer": self.writer, "title": title, "confidence": confidence}
        claim |= {"t": self.now(), **fields}
        if isinstance(fields.get("value"), str):
            claim |= {"value": None, "value_text": fields["value"]}
        claim = {name: _bounded(value, name) for name, value in claim.items() if value not in (None, [], "")}
        return self.store.admit(checked([claim]), self.rules).row(0, named=True)

    def correct(self, cell: str, title: str, confidence: float, **fields: Any) -> dict[str, Any]:
        """Propose a claim of the same kind that supersedes a cell."""
        memory = self.store.about(cell, self.rep, self.rules)
        kind = fields.pop("kind", None) or memory.cells["kind"][memory.row(cell, rep=self.rep)]
        edge = {"relation": "supersedes", "target": cell}
        return self.claim(title, confidence, kind=kind, edges=[edge, *fields.pop("edges", [])], **fields)

    def forget(self, cell: str) -> str:
        """Erase what a cell says, wherever it is said of the same object, with what was derived from it; what is gone."""
        before = self.store.memory.cells["rejected"].count()
        now = self.now()
        after = self.store.forget_cell(_bounded(cell, "cell"), by=self.writer, now=now, rep=self.rep, rules=self.rules)
        return f"{after.cells['rejected'].count() - before} cells erased; the gate refuses it from now on"

    def wire(self, name: str, program: str, confidence: float) -> dict[str, Any]:
        """Propose an op of one's own, as a claim of kind prg; from the next tick on it runs."""
        return self.claim(name, confidence, kind="prg", body=program)

    def why(self, cell: str) -> str:
        """Why a cell is worth what it is, term by term."""
        from malsim.memory.explain import explain

        memory = self.store.about(_bounded(cell, "cell"), self.rep, self.rules)
        explanation = explain(memory, cell, t=self.now(), rep=self.rep, rules=self.rules)
        return f"{explanation}\n  {explanation.why}"

    def signals(self, names: Sequence[str] = ()) -> str:
        """What the standing signals read now; all of them, or some by name."""
        from malsim.netlist.shipped import catalogue, readings, signal_named

        wanted = [signal_named(name).name for name in names or catalogue()]
        return "\n".join(str(one) for one in readings(self._own(), wanted, now=self.now(), rules=self.rules))

    def set_input(self, name: str, value: float | str) -> str:
        """Set an input of the wires that stand in the store, such as `reviewer.ack`, from the next tick on."""
        number = self.store.set_input(_bounded(name, "name"), value, writer=self.writer, now=self.now())
        return f"{name} = {number:g} from the next tick on"

    def wires(self) -> str:
        """The signals and inputs of the wires that stand in the store, a line each."""
        from malsim.netlist.shipped.store_wires import wire_lines

        return "\n".join(wire_lines(self.store.recorded, self.store.standing))

    def _own(self) -> Memory:
        return self.store.within(self.store.current(self.rules), self.scope)

    def netlist(self) -> str:
        """The graph as a netlist that loads back."""
        from malsim.netlist import render

        return render(self._own()) + self.store.standing.text

    def tick(self) -> str:
        """Recompute every score as of now, run the programs and wires; what they did, a line each."""
        from malsim.netlist import event_lines

        now, count = self.now(), self.store.events.height
        cells = self.store.tick(now, self.rules).height
        return "\n".join([f"day {now:.4g}: {cells} cells", *event_lines(self.store.events.slice(count))])


def verdict_text(verdict: Mapping[str, Any]) -> str:
    """A verdict of the gate in a sentence, with its reasons and notes."""
    if verdict["verdict"] == "refused":
        return one_line("refused: " + "; ".join(f"{issue['path']} {issue['message']}" for issue in verdict["issues"]))
    line = f"{verdict['verdict']} as {verdict['handle']}, stated {verdict['stated']:g}, effective {verdict['effective']:.3g}"
    return "\n".join([line, *(f"  {one_line(note)}" for note in verdict["notes"])])


def _bounded(value: Any, name: str) -> Any:
    """The value; `UsageError` for a text too long for anybody to read."""
    if isinstance(value, str) and len(value) > LONGEST:
        allowed = f"at most {LONGEST:,} characters"
        raise UsageError("too long", where=name, given=f"{len(value):,} characters", allowed=allowed)
    return value
