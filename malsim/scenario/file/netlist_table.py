"""Reader for a scenario's netlist, given as text or as a file in the scenario's folder. Errors name the line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.errors import ScenarioError, UsageError
from malsim.base.files.paths import inside
from malsim.base.files.toml_text import line_of
from malsim.netlist import NetlistError, parse, read
from malsim.netlist.shipped import signals_text
from malsim.netlist.wiring.blocks import added_names
from malsim.sim.settings.netlist_config import Input, NetlistConfig
from malsim.sim.world.clock import span

if TYPE_CHECKING:
    from malsim.base.files.toml_text import Lines
    from malsim.netlist import Document


def netlist_of(
    table: dict[str, Any], text: str, lines: Lines, where: str, *, recorded: str | None = None
) -> NetlistConfig | None:
    """Read the tables `[netlist]` and `[derive]`. When a run is repeated, `recorded` replaces the netlist."""
    given, derived = table.get("netlist"), table.get("derive")
    if given is None and derived is None:
        return None
    given = given or {"text": ""}
    if ("file" in given and "text" in given) or not {"file", "text", "signals"} & given.keys():
        at = f"{where}:{line_of(lines, ('netlist',))}: netlist"
        problem = "a netlist needs either file or text, or only signals"
        raise ScenarioError(problem, where=at, given=", ".join(given), allowed="file, text, signals")
    inputs = tuple(_input(number, entry, where) for number, entry in enumerate(given.get("input", [])))
    try:
        document = _document(given, text, lines, where, recorded)
        if recorded is None:
            document = _with_signals(document, given.get("signals", []), derived or {}, lines, where)
        netlist = NetlistConfig(document=document, derive=given.get("derive", False))
    except NetlistError as error:
        raise ScenarioError(str(error)) from error
    for number, external in enumerate(inputs):
        try:
            netlist.check(external)
        except ScenarioError as error:
            line = line_of(lines, ("netlist", "input", number, error.where or ""))
            at = f"{where}:{line}: netlist.input[{number}].{error.where}"
            raise ScenarioError(error.problem, where=at, given=error.given, allowed=error.allowed) from error
    return replace(netlist, inputs=inputs)


def _input(number: int, table: dict[str, Any], where: str) -> Input:
    try:
        value = float(table["value"])
    except OverflowError as problem:
        raise ScenarioError("the number is too large", where=f"{where}: netlist.input[{number}].value") from problem
    return Input(table["signal"], span(table["at"]), value)


def _document(given: dict[str, Any], text: str, lines: Lines, where: str, recorded: str | None) -> Document:
    if recorded is not None:  # the recorded text already contains the standing signals and derived values
        return parse(recorded, file=str(Path(where).parent / given["file"]) if "file" in given else where)
    if "text" in given:
        before = line_of(lines, ("netlist", "text")) - 1
        at = text.find(given["text"], sum(map(len, text.splitlines(keepends=True)[:before])))
        before = before if at < 0 else text.count("\n", 0, at)
        return parse("\n" * before + given["text"], file=where)  # the blank lines keep line numbers right
    if "file" not in given:
        return parse("", file=where)
    location = f"{where}:{line_of(lines, ('netlist', 'file'))}: netlist.file"
    return read(inside(Path(where).parent, given["file"], where=location, what="a netlist"))


def _with_signals(document: Document, names: list[str], derived: dict[str, str], lines: Lines, where: str) -> Document:
    try:
        more = signals_text(name for name in names if name not in added_names(document.statements))
    except UsageError as error:
        at = f"{where}:{line_of(lines, ('netlist', 'signals'))}: netlist.signals"
        raise ScenarioError(error.problem, where=at, given=error.given, allowed=error.allowed, hint=error.hint) from error
    for name, value in derived.items():
        domain, _, rest = name.partition("-")
        more += f"net derive.{name} {domain}-derived-{rest} < {value}\n"
    return replace(document, statements=(*document.statements, *parse(more, file=where).statements))
