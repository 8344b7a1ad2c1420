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

__all__ = ["Written", "checked", "fault_of", "written"]

_MEANT = r"(?m)^\s*addf\s"
_TAKEN = r"\[as: (\S+)\]"


class Written(NamedTuple):
    """One prg cell that came in: its handle, the places of the replications that hold it, its programs, or what is wrong."""

    handle: str
    places: tuple[int, ...]
    programs: tuple[Program, ...]
    fault: str = ""


def checked(claims: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Claims as a frame for the gate, with what is wrong with the programs of `prg` cells as issues of their bodies."""
    faults = [fault_of(str(claim.get("body", ""))) if claim.get("kind") == "prg" else "" for claim in claims]
    frame = from_mappings(claims)
    said = [[{"path": "body", "message": fault}] if fault else [] for fault in faults]
    issues = pl.Series("more", said, dtype=frame.schema["issues"])
    return frame.with_columns(issues=pl.concat_list("issues", issues))


def fault_of(body: str) -> str:
    """What is wrong with the standing programs that a body holds; nothing where they are sound, or where it is prose.

    >>> fault_of("addf watch tick [keys: obs_9c1f]")
    ''
    >>> fault_of("addf wotch tick [keys: obs_9c1f]") > ""
    True
    """
    if not re.search(_MEANT, body):
        return ""
    try:
        programs(link(parse(_plain(body))))
    except NetlistError as error:
        return str(error.faults[0])
    return ""


def written(memory: Memory, *, after: int, tick: int, first: int = 0) -> list[Written]:
    """What the prg cells from row `after` on ask to have run, each cell of one name and text once.

    A body that holds no `addf` sentence is prose and asks for nothing; nor does one that says `[as: NAME]`, which an op of
    the netlist of that name runs.

    Parameters
    ----------
    tick
        The number of the scan that finds them; what a program remembers begins with it.
    first
        The number of the first replication.
    """
    new = memory.cells.slice(after).filter((pl.col("kind") == "prg") & (pl.col("origin") != "program"))
    new = new.filter(pl.col("body").str.contains(_MEANT) & ~pl.col("body").str.contains(_TAKEN))
    found = []
    for cell in new.group_by("key", "handle", "title", "body", "topics", maintain_order=True).agg("rep").to_dicts():
        places = tuple(rep - first for rep in cell["rep"])
        try:
            asked = programs(link(parse(_plain(cell["body"]), file=cell["handle"])))
        except NetlistError as error:
            found.append(Written(cell["handle"], places, (), str(error.faults[0])))
            continue
        own = {"key": cell["key"], "handle": cell["handle"], "name": cell["title"], "places": places}
        shares = tuple(cell["topics"] or ())
        made = tuple(replace(one, slot=f"{cell['key']} {one.operation} {tick}", shares=shares, **own) for one in asked)
        found.append(Written(cell["handle"], places, made))
    return found


def _plain(body: str) -> str:
    """The body, if it holds standing programs and nothing else; wiring of other kinds stands in the netlist."""
    for statement in parse(body).statements:
        if not isinstance(statement, Blank) and not (isinstance(statement, Schedule) and statement.options):
            problem = "a prg cell holds standing programs"
            raise NetlistError(
                [Fault(problem=problem, line=statement.line, hint="addf watch tick [topics: a] [delta: 0.1]")]
            )
    return body
