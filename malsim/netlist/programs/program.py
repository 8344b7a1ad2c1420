"""Standing programs, declared by a netlist or by the body of a `prg` cell (`addf … [ … ]`)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from malsim.memory.gate.claims import from_mappings
from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.parse import parse
from malsim.netlist.language.statements import Blank, Schedule
from malsim.netlist.language.values import number
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory import Memory
    from malsim.netlist.wiring import Net

_PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_CHOOSE = ("keys", "topics", "entities", "kinds")
LATE = 1e9
_ADDF = r"(?m)^\s*addf\s"
_AS = r"\[as: (\S+)\]"


@dataclass(frozen=True, kw_only=True)
class Program:
    """Standing program, such as `addf watch tick [topics: a b] [delta: 0.15]`.

    `keys`, `topics`, `entities`, `kinds` and `query` select at most `limit` members. Without these criteria, members are
    all active cells that are not programs and, if `shares` is given, share one of these topics. A program from a cell
    (`key`, `handle`) runs in the replications `indices` while the cell is active, and stores its outputs under `slot`.
    """

    operation: str
    name: str = ""
    keys: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    query: str = ""
    limit: int = 50
    settings: Mapping[str, object] = field(default_factory=dict)
    key: str = ""
    handle: str = ""
    shares: tuple[str, ...] = ()
    indices: tuple[int, ...] | None = None
    slot: str = ""

    @property
    def title(self) -> str:
        return self.name or f"{self.operation} program"

    @property
    def turn(self) -> float:
        position = self.number("position", 0.0)
        return position if position >= 0 else LATE + position

    def number(self, name: str, default: float) -> float:
        value = self.settings.get(name)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default

    def positive(self, name: str, default: float) -> float:
        value = self.number(name, default)
        return value if value > 0 else default


def programs(net: Net) -> tuple[Program, ...]:
    """Return the programs of a net in run order. If an operation is added more than once, the last `addf` counts."""
    by_operation: dict[str, Program] = {}
    for statement in net.programs:
        settings: dict[str, object] = {}
        choices: dict[str, Any] = {}
        for option in statement.options:
            if option.key in _CHOOSE:
                choices[option.key] = option.values
            else:
                values = [_value(value) for value in option.values]
                settings[option.key] = (
                    values[0] if len(values) == 1 else " ".join(option.values) if option.key == "query" else values
                )
        settings |= {name: _value(value) for name, value in net.settings_of_programs.get(statement.op, {}).items()}
        limit, query = settings.pop("limit", 50), settings.pop("query", "")
        tag = hashlib.sha256(statement.op.encode()).hexdigest()[:4]
        by_operation[statement.op] = Program(
            operation=statement.op, settings=settings, query=str(query), key=f"prg_{tag}", handle=f"prg_{tag}",
            limit=int(limit) if isinstance(limit, (int, float)) and limit > 0 else 50, **choices,
        )  # fmt: skip
    return tuple(sorted(by_operation.values(), key=lambda program: program.turn))


def _value(text: str) -> object:
    if text in {"true", "false"}:
        return text == "true"
    return number(text) if _PLAIN.fullmatch(text) else text


class ProgramCell(NamedTuple):
    """New `prg` cell: its handle, the indices of its replications, and its programs or the fault found in them."""

    handle: str
    indices: tuple[int, ...]
    programs: tuple[Program, ...]
    fault: str = ""


def checked(claims: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Convert claims to a frame for the gate. Faults in the programs of `prg` cells are added as issues."""
    faults = [fault_of(str(claim.get("body", ""))) if claim.get("kind") == "prg" else "" for claim in claims]
    frame = from_mappings(claims)
    messages = [[{"path": "body", "message": fault}] if fault else [] for fault in faults]
    issues = pl.Series("more", messages, dtype=frame.schema["issues"])
    return frame.with_columns(issues=pl.concat_list("issues", issues))


def fault_of(body: str) -> str:
    """Return the first fault of the standing programs in a body, or an empty string if they are valid or the body is prose.

    >>> fault_of("addf watch tick [keys: obs_9c1f]")
    ''
    >>> fault_of("addf wotch tick [keys: obs_9c1f]") > ""
    True
    """
    if not re.search(_ADDF, body):
        return ""
    try:
        programs(link(parse(_programs_only(body))))
    except NetlistError as error:
        return str(error.faults[0])
    return ""


def program_cells(memory: Memory, *, after: int, tick: int, first: int = 0, upto: int | None = None) -> list[ProgramCell]:
    """Return the `prg` cells with standing programs in the rows from `after` (inclusive) to `upto` (exclusive).

    Equal cells of several replications are merged. A body without `addf` is prose. A body with `[as: NAME]` is skipped,
    because an op of the netlist runs it.
    """
    if memory.height <= after:
        return []
    new = memory.cells.head(upto).slice(after) if upto is not None else memory.cells.slice(after)
    new = new.filter((pl.col("kind") == "prg") & pl.col("body").str.contains(_ADDF) & ~pl.col("body").str.contains(_AS))
    cells = []
    for cell in new.group_by("key", "handle", "title", "body", "topics", maintain_order=True).agg("rep").to_dicts():
        indices = tuple(rep - first for rep in cell["rep"])
        try:
            parsed = programs(link(parse(_programs_only(cell["body"]), file=cell["handle"])))
        except NetlistError as error:
            cells.append(ProgramCell(cell["handle"], indices, (), str(error.faults[0])))
            continue
        of_cell = {"key": cell["key"], "handle": cell["handle"], "name": cell["title"], "indices": indices}
        of_cell |= {"shares": tuple(cell["topics"] or ())}
        standing = [replace(ask, slot=f"{cell['key']} {ask.operation} {tick}", **of_cell) for ask in parsed]
        cells.append(ProgramCell(cell["handle"], indices, tuple(standing)))
    return cells


def _programs_only(body: str) -> str:
    for statement in parse(body).statements:
        if not isinstance(statement, Blank) and not (isinstance(statement, Schedule) and statement.options):
            problem, hint = "a prg cell may hold only standing programs", "write addf watch tick [topics: a] [delta: 0.1]"
            raise NetlistError([Fault(problem=problem, line=statement.line, hint=hint)])
    return body
