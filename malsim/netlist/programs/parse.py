"""Programs that were written into the memory: a prg cell whose body is `addf … [ … ]` stands on the tick from then on."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from malsim.memory.gate.claims import from_mappings
from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.parse import parse
from malsim.netlist.language.statements import Blank, Schedule
from malsim.netlist.programs.program import Program, programs
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory import Memory

__all__ = ["ProgramCell", "checked", "fault_of", "program_cells"]

_ADDF = r"(?m)^\s*addf\s"
_AS = r"\[as: (\S+)\]"


class ProgramCell(NamedTuple):
    """One prg cell that came in: its handle, the places of the replications that hold it, its programs, or what is wrong."""

    handle: str
    places: tuple[int, ...]
    programs: tuple[Program, ...]
    fault: str = ""


def checked(claims: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Claims as a frame for the gate, with what is wrong with the programs of `prg` cells as issues of their bodies."""
    faults = [fault_of(str(claim.get("body", ""))) if claim.get("kind") == "prg" else "" for claim in claims]
    frame = from_mappings(claims)
    messages = [[{"path": "body", "message": fault}] if fault else [] for fault in faults]
    issues = pl.Series("more", messages, dtype=frame.schema["issues"])
    return frame.with_columns(issues=pl.concat_list("issues", issues))


def fault_of(body: str) -> str:
    """What is wrong with the standing programs that a body holds; nothing where they are sound, or where it is prose.

    >>> fault_of("addf watch tick [keys: obs_9c1f]")
    ''
    >>> fault_of("addf wotch tick [keys: obs_9c1f]") > ""
    True
    """
    if not re.search(_ADDF, body):
        return ""
    try:
        programs(link(parse(_plain(body))))
    except NetlistError as error:
        return str(error.faults[0])
    return ""


def program_cells(memory: Memory, *, after: int, tick: int, first: int = 0) -> list[ProgramCell]:
    """The prg cells from row `after` on that hold standing programs, each cell of one name and text once.

    A body that holds no `addf` sentence is prose and asks for nothing; nor does one that says `[as: NAME]`, which an op of
    the netlist of that name runs.

    Parameters
    ----------
    tick
        The number of the scan that finds them; what a program remembers begins with it.
    first
        The number of the first replication.
    """
    if memory.height <= after:
        return []
    new = memory.cells.slice(after).filter((pl.col("kind") == "prg") & (pl.col("origin") != "program"))
    new = new.filter(pl.col("body").str.contains(_ADDF) & ~pl.col("body").str.contains(_AS))
    cells = []
    for cell in new.group_by("key", "handle", "title", "body", "topics", maintain_order=True).agg("rep").to_dicts():
        places = tuple(rep - first for rep in cell["rep"])
        try:
            asks = programs(link(parse(_plain(cell["body"]), file=cell["handle"])))
        except NetlistError as error:
            cells.append(ProgramCell(cell["handle"], places, (), str(error.faults[0])))
            continue
        own = {"key": cell["key"], "handle": cell["handle"], "name": cell["title"], "places": places}
        shares = tuple(cell["topics"] or ())
        slots = (f"{cell['key']} {one.operation} {tick}" for one in asks)
        standing = (replace(one, slot=slot, shares=shares, **own) for one, slot in zip(asks, slots, strict=True))
        cells.append(ProgramCell(cell["handle"], places, tuple(standing)))
    return cells


def _plain(body: str) -> str:
    """The body, if it holds standing programs and nothing else; wiring of other kinds stands in the netlist."""
    for statement in parse(body).statements:
        if not isinstance(statement, Blank) and not (isinstance(statement, Schedule) and statement.options):
            problem, hint = "a prg cell holds standing programs", "addf watch tick [topics: a] [delta: 0.1]"
            raise NetlistError([Fault(problem=problem, line=statement.line, hint=hint)])
    return body
