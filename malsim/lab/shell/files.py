"""Functions that open and save shell sessions: stores, netlists, finished runs and HAL commands."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_text
from malsim.base.files.table_files import read_table
from malsim.lab.shell.listing import one_value
from malsim.lab.shell.session import WIRING, Session, signals_by_pin
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store
from malsim.netlist import Document, NetlistError, parse, read, render, save
from malsim.netlist.engine.engine import DAY
from malsim.netlist.engine.saved_state import restored, saved
from malsim.netlist.files import read_with_faults
from malsim.netlist.hal import read_hal
from malsim.netlist.language.statements import Blank, Load, Thread
from malsim.netlist.language.values import exact
from malsim.netlist.shipped.store_wires import moved_at
from malsim.scenario.file.scenario_file import read as read_scenario
from ops.pin import In, Param
from ops.pin.units import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from malsim.memory import Memory, Rules
    from malsim.netlist import Fault
    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring import Net
    from malsim.sim.run import Run

TEXTS = (".malnet", ".hal")
SECOND = 1e3  # one second in milliseconds
STORES = (".sqlite", ".sqlite3", ".db", ".store")


@dataclass(frozen=True)
class SessionFile:
    """Session and the file to which `save` writes by default."""

    session: Session
    home: Path | None = None


def document(path: str | Path) -> tuple[Document, float]:
    """Return the netlist of any supported file and, for a `.hal` file, the tick length in milliseconds (otherwise 0)."""
    if is_store(Path(path)):
        with Store(path, write=False) as store:
            return parse(store.standing.text, file=str(path)), 0.0
    if Path(path).suffix == ".toml":
        wires = read_scenario(Path(path)).netlist
        return wires.document if wires else Document(name=str(path)), 0.0
    if Path(path).suffix == ".hal":
        translation = read_hal(Path(path).read_bytes(), file=str(path), folder=Path(path).parent, variables=os.environ)
        return translation.document, translation.tick
    return read(path), 0.0


def readable(path: str | Path) -> tuple[Document, list[Fault]]:
    """Return the readable part of a netlist, and all faults. A faulty `.hal` file or scenario gives an empty netlist."""
    if Path(path).suffix not in {".hal", ".toml"}:
        return read_with_faults(path)
    try:
        return document(path)[0], []
    except NetlistError as error:
        return Document(name=str(path)), list(error.faults)


def open_session(path: str | None, *, rules: Rules | None = None, tick: float | None = None) -> SessionFile:
    """Open a session on a netlist (`.malnet`, `.hal`) or a store (any other file). Without a path, return an empty session.

    The default tick is a day, or the base period of a `.hal` file.
    """
    if path is None:
        return SessionFile(Session.over(rules=rules, tick=tick or DAY))
    home = Path(path)
    if home.suffix in TEXTS:
        netlist, base_period = document(home)
        session = Session.over(document=netlist, rules=rules, tick=tick or base_period or DAY)
        return SessionFile(session, None if home.suffix == ".hal" else home)
    with Store(home, write=False) as store:
        memory, standing = store.recorded, store.standing
        session = Session.over(memory, parse(standing.text), rules=rules, day=store.day or 0.0, tick=tick or DAY)
        if standing.text and memory.cells["rep"].n_unique() <= 1:
            state = restored(standing.state, session.engine, memory, first=0)
            session = replace(session, state=state, loop_pins=dict(standing.inputs))
        return SessionFile(session, home)


def of_run(run: Run) -> SessionFile:
    """Return a session that continues a run of one replication under its rules. The ops of its netlist are restarted."""
    scenario = run.scenario
    if scenario.replications != 1 or scenario.first != 0:
        given, hint = f"{scenario.replications} replications", "run the scenario with --replications 1"
        raise UsageError("the shell can open only runs with one replication", given=given, hint=hint)
    wires = scenario.netlist
    wiring = [statement for statement in wires.document.statements if isinstance(statement, WIRING)] if wires else []
    tick = float(scenario.turn_every)
    session = Session.over(run.memory, Document(tuple(wiring)), rules=scenario.rules, day=scenario.days, tick=tick)
    return SessionFile(session)


def write(session: Session, path: Path) -> str:
    """Save a session as a netlist or a store, and return a summary.

    A netlist contains the graph and the wiring; a store also contains the instances' state and the inputs.
    """
    if path.suffix == ".malnet":
        if session.memory.cells["rep"].n_unique() > 1:
            raise UsageError(
                "a netlist file can hold only one replication", given=str(path), hint="save to a store such as FILE.sqlite"
            )
        save_text(path, text(session))
        pace = "" if session.tick == DAY else f"; open it with --tick {session.tick / SECOND:g}s"
        return f"{path}: {session.memory.cells.height} cells, {len(session.net.instances)} instances{pace}"
    if path.suffix not in STORES and not path.is_file():
        allowed = " ".join([".malnet", *STORES])
        raise UsageError("unsupported file type", given=str(path), allowed=allowed)
    wires = render(_spaced(session.statements)) if session.statements else ""
    with Store(path) as store:
        before = store.standing
        last = restored(before.state, session.engine, session.memory, first=0).signals
        moved = moved_at(last, session.state.signals, session.net, session.day)
        after = replace(before, text=wires, state=saved(session.state, session.engine), inputs=session.loop_pins)
        after = replace(after, moved={**before.moved, **moved})
        after = replace(after, files=before.files if wires == before.text else ())
        store.wire(lambda _, __: (session.memory, after), t=session.day)
    count = len(session.net.instances)
    wiring = f", {count} instances" if count else ""
    return f"{path}: {session.memory.cells.height} cells, {session.memory.edges.height} edges{wiring}"


def text(session: Session) -> str:
    """Return the session as netlist text, graph first and then wiring. Loading and saving the text reproduces it."""
    graph = save(session.memory) if session.memory.cells.height else ""
    return graph + render(_spaced(session.statements))


def _spaced(statements: Iterable[Statement]) -> list[Statement]:
    """Drop leading, trailing and repeated blank lines, which are left where cells were removed."""
    spaced: list[Statement] = []
    for statement in statements:
        if not _empty(statement) or (spaced and not _empty(spaced[-1])):
            spaced.append(statement)
    return spaced[:-1] if spaced and _empty(spaced[-1]) else spaced


def _empty(statement: Statement) -> bool:
    return isinstance(statement, Blank) and not statement.comment


def run_stream(path: str, stream: str | None, tick: str | None, memory: Memory | None) -> tuple[Net, pl.DataFrame]:
    """Run a netlist over a table with one row per tick. Return the loaded net, and all signal values at each row."""
    from malsim.netlist import load
    from malsim.netlist.engine.stream import run

    if not stream:
        raise UsageError(
            "--on is missing", hint="add --on FILE.csv, a table with one row per tick and one column per signal"
        )
    netlist, base_period = document(path)
    loaded = load(netlist, memory)
    length = base_period or DAY if tick is None else number(tick, unit="ms", where="--tick")
    return loaded.net, run(loaded.net, read_table(stream), memory=loaded.memory, tick=length)


_ALIASES = {"signal": "sig", "parameter": "param", "netal": "netla"}
_PARTS = ("comp", "alias", "sig", "link", "linka", "netl", "netla", "param", "thread", "unconnectedinpins")
_ALL = ("comp", "alias", "netla", "param", "thread")
_GROUPS = {"net": ("sig", "link"), "neta": ("sig", "linka"), "all": _ALL, "allu": (*_ALL, "unconnectedinpins"), "sigu": ()}
KINDS = (*_PARTS, *_ALIASES, *_GROUPS)


def save_lines(session: Session, kind: str) -> list[str]:
    """Return the commands that recreate all items of one kind (one of `KINDS`). Ops and pins have their netlist names."""
    net, lines = session.net, dict[str, list[str]]()
    loads = [replace(part, comment="") for part in session.statements if isinstance(part, (Load, Thread))]
    lines["comp"] = render(loads).splitlines()
    lines["alias"] = [f"alias pin {pin} {alias}" for pin, alias in session.pin_names.items() if "." not in alias]
    lines["sig"] = [f"newsig {signal.name} {signal.type}" for signal in net.signals.values()]
    for name, arrows in (("link", ("", "")), ("linka", ("<= ", "=> "))):
        pairs = [(signal.name, link) for signal in net.signals.values() for link in signal.links]
        lines[name] = [f"linkps {link.address} {arrows[link.writes]}{signal}" for signal, link in pairs]
    for name, arrows in (("netl", ("", "")), ("netla", ("=> ", "<= "))):
        lines[name] = [
            " ".join(["net", signal.name, *(f"{arrows[link.writes]}{link.address}" for link in links)])
            for signal in net.signals.values()
            for links in [sorted(signal.links, key=lambda link: not link.writes)]  # list the writing pin first
        ]
    lines["param"] = _settings(session, Param)
    lines["thread"] = [f"addf {name} {thread.name}" for thread in net.threads for name in thread.functions]
    lines["unconnectedinpins"] = _settings(session, In)
    return [line for part in _GROUPS.get(kind, (_ALIASES.get(kind, kind),)) for line in lines[part]]


def _settings(session: Session, kind: type) -> list[str]:
    """Return a `setp` command for each parameter, or each unconnected input, of every instance."""
    lines, wired = [], signals_by_pin(session.net)
    for name, instance in session.net.instances.items():
        for pin, (_, _, declared) in instance.sheet.slots.items():
            address = f"{name}.{pin}"
            if isinstance(declared, kind) and address not in wired and (values := session.values(address)).size == 1:
                value = values[0].item()
                text = exact(value) if isinstance(value, float) else one_value(value)
                lines.append(f"setp {address} {text}")
    return lines
