"""Recall's standing programs after an import: the same specifications and order, for `malsim.netlist.programs.run`."""

from __future__ import annotations

from typing import Any

from malsim.importers.recall.cells import BESIDE, HYPEREDGES
from malsim.importers.writing.cells import Cells
from malsim.netlist.programs import Program
from malsim.netlist.programs.operations import OPERATIONS

_CHOICES = ("keys", "topics", "entities", "kinds")


def programs_of(cells: Cells) -> tuple[Program, ...]:
    """The programs of active cells, in the order of a pass: by position, then by when they were created.

    A family of a dotted path (`tags.topics`) is read by its last part; a target that is a hyperedge, by its members.
    """
    programs = []
    for row in cells.memory.cells.filter(status="active", kind="prg").sort("created", maintain_order=True).to_dicts():
        beside = cells.extras.get(row["key"], {}).get(BESIDE, {})
        spec = _object(beside.get("props")).get("program")
        if isinstance(spec, dict) and spec.get("operation") in OPERATIONS:
            programs.append(_program(row, spec, cells))
    return tuple(sorted(programs, key=lambda program: program.turn))


def _program(row: dict[str, Any], spec: dict[str, Any], cells: Cells) -> Program:
    target, settings = _object(spec.get("target")), _object(spec.get("params"))
    keys, topics, entities, kinds = (tuple(map(str, target.get(name) or ())) for name in _CHOICES)
    keys = keys or tuple(_members(target, cells))
    selective = target.get("query") or topics or entities or kinds
    if not keys and not selective:
        keys = tuple(key for _, key, _ in cells.edges.get(row["key"], ()))
    limit = target.get("limit")
    return Program(
        operation=spec["operation"],
        name=row["title"],
        key=row["key"],
        handle=row["handle"],
        keys=keys,
        topics=topics,
        entities=entities,
        kinds=kinds,
        query=str(target.get("query") or ""),
        limit=int(limit) if isinstance(limit, (int, float)) and limit > 0 else 50,
        settings=settings,
        shares=tuple(row["topics"]),
        slot=row["key"],
    )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _members(target: dict[str, Any], cells: Cells) -> list[str]:
    """The keys of a hyperedge's members, of one role where one is named."""
    for hyperedge in cells.extras.get("", {}).get(HYPEREDGES, []):
        if hyperedge.get("id") == target.get("hyperedge"):
            members = [{"key": one} if isinstance(one, str) else one for one in hyperedge.get("members", [])]
            ours = [one for one in members if target.get("role") in (None, one.get("role", "member"))]
            return [str(one.get("key", one.get("nodeId"))) for one in ours]
    return []
