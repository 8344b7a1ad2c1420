"""Loading and saving of sessions: stores, netlists, ends of runs, and HAL commands; saved only on request."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_text
from malsim.base.files.table_files import read_table
from malsim.lab.shell.listing import one_value
from malsim.lab.shell.session import WIRING, Session
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store
from malsim.netlist import Document, NetlistError, parse, read, render, save
from malsim.netlist.engine.engine import DAY
from malsim.netlist.engine.saved_state import restored, saved
from malsim.netlist.files import read_what_can_be
from malsim.netlist.hal import read_hal
from malsim.netlist.language.statements import Blank, Load, Thread
from malsim.netlist.language.values import exact
from malsim.netlist.shipped.store_wires import moved_at
from malsim.scenario.file.scenario_file import read as read_scenario
from ops.pin import In, Param
from ops.pin.units import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

    from malsim.memory import Memory, Rules
    from malsim.netlist import Fault
    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring import Net
    from malsim.sim.run import Run


TEXTS = (".malnet", ".hal")
SECOND = 1e3  # ms
STORES = (".sqlite", ".sqlite3", ".db", ".store")


@dataclass(frozen=True)
class SessionFile:
    """Session, and the file to which `save` writes by default."""

    session: Session
    home: Path | None = None


def document(path: str | Path) -> tuple[Document, float]:
    """Read a netlist with the files it sources; return it with its tick in milliseconds (0 without a `.hal` thread).

    Of a scenario (`.toml`) it is the scenario's own, of a store the wires that stand in it.
    """
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
    """Return the readable part of a netlist and its faults; `.hal` text or a scenario is read whole or not at all."""
    if Path(path).suffix not in {".hal", ".toml"}:
        return read_what_can_be(path)
    try:
        return document(path)[0], []
    except NetlistError as error:
        return Document(name=str(path)), list(error.faults)


def open_session(path: str | None, *, rules: Rules | None = None, tick: float | None = None) -> SessionFile:
    """Return a session on a netlist (`.malnet`, `.hal`) or a store (any other file); an empty one for no path.

    Without a tick a day is one, or for `.hal` text its base period.
    """
    if path is None:
        return SessionFile(Session.over(rules=rules, tick=tick or DAY))
    home = Path(path)
    if home.suffix in TEXTS:
        netlist, own = document(home)
        session = Session.over(document=netlist, rules=rules, tick=tick or own or DAY)
        return SessionFile(session, None if home.suffix == ".hal" else home)
    with Store(home, write=False) as store:
        memory, standing = store.recorded, store.standing
        session = Session.over(memory, parse(standing.text), rules=rules, day=store.day or 0.0, tick=tick or DAY)
        if standing.text and memory.cells["rep"].n_unique() <= 1:
            state = restored(standing.state, session.engine, memory, first=0)
            session = replace(session, state=state, loop_pins=dict(standing.inputs))
        return SessionFile(session, home)


def of_run(run: Run) -> SessionFile:
    """Return a session that continues a run of one replication under its rules; its netlist's ops start anew."""
    scenario = run.scenario
    if scenario.replications != 1 or scenario.first != 0:
        raise UsageError(
            "a shell holds one replication", given=f"{scenario.replications} replications", hint="run it with one"
        )
    wires = scenario.netlist
    wiring = [statement for statement in wires.document.statements if isinstance(statement, WIRING)] if wires else []
    tick = float(scenario.turn_every)
    session = Session.over(run.memory, Document(tuple(wiring)), rules=scenario.rules, day=scenario.days, tick=tick)
    return SessionFile(session)


def write(session: Session, path: Path) -> str:
    """Save a session to a file, a netlist as text or a store as one transaction; return what was written.

    A store keeps graph, wiring, the state of its instances and the inputs; a netlist keeps graph and wiring.
    """
    if path.suffix == ".malnet":
        if session.memory.cells["rep"].n_unique() > 1:
            raise UsageError("a netlist holds one replication", given=str(path), hint="save it as a store: FILE.sqlite")
        save_text(path, text(session))
        pace = "" if session.tick == DAY else f"; it was ticked every {session.tick / SECOND:g}s: open it with --tick"
        return f"{path}: {session.memory.cells.height} cells, {len(session.net.instances)} instances{pace}"
    if path.suffix not in STORES and not path.is_file():
        allowed = " ".join([".malnet", *STORES])
        raise UsageError("files of this kind cannot be written", given=str(path), allowed=allowed)
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
    """Return the session as a netlist, graph first, then wiring; loading and saving it again gives the same text."""
    graph = save(session.memory) if session.memory.cells.height else ""
    return graph + render(_spaced(session.statements))


def _spaced(statements: Iterable[Statement]) -> list[Statement]:
    """Return the statements without leading and repeated blank lines, which removed cells leave behind."""
    spaced: list[Statement] = []
    for statement in statements:
        if not _empty(statement) or (spaced and not _empty(spaced[-1])):
            spaced.append(statement)
    return spaced[:-1] if spaced and _empty(spaced[-1]) else spaced


def _empty(statement: Statement) -> bool:
    return isinstance(statement, Blank) and not statement.comment


def run_stream(path: str, stream: str | None, tick: str | None, memory: Memory | None) -> tuple[Net, pl.DataFrame]:
    """Run the netlist of a file over a table of signals; return the net and every signal at each row.

    Raises
    ------
    UsageError
        No table is given.
    """
    from malsim.netlist import load
    from malsim.netlist.engine.stream import run

    if not stream:
        raise UsageError("a stream of signals is missing", hint="--on stream.csv, a row a tick and a column a signal")
    netlist, own = document(path)
    loaded = load(netlist, memory)
    length = own or DAY if tick is None else number(tick, unit="ms", where="--tick")
    return loaded.net, run(loaded.net, read_table(stream), memory=loaded.memory, tick=length)


def save_lines(session: Session, kind: str) -> list[str]:
    """Return the commands that recreate one kind of item (one of `KINDS`), with the netlist's names of ops and pins."""
    return [line for part in _GROUPS.get(kind, (kind,)) for line in _PARTS[part](session)]


def _comp(session: Session) -> list[str]:
    loads = [replace(part, comment="") for part in session.statements if isinstance(part, (Load, Thread))]
    return render(loads).splitlines()


def _alias(session: Session) -> list[str]:
    return [f"alias pin {pin} {alias}" for pin, alias in session.pin_names.items() if "." not in alias]


def _sig(session: Session) -> list[str]:
    return [f"newsig {signal.name} {signal.type}" for signal in session.net.signals.values()]


def _link(session: Session, *, arrows: bool = False) -> list[str]:
    lines = []
    for signal in session.net.signals.values():
        for link in signal.links:
            arrow = ("=> " if link.writes else "<= ") if arrows else ""
            lines.append(f"linkps {link.address} {arrow}{signal.name}")
    return lines


def _net(session: Session, *, arrows: bool = False) -> list[str]:
    lines = []
    for signal in session.net.signals.values():
        ends = sorted(signal.links, key=lambda link: not link.writes)
        words = []
        for link in ends:
            arrow = ("<=" if link.writes else "=>") if arrows else ""
            words += [*filter(None, [arrow]), str(link.address)]
        lines.append(" ".join(["net", signal.name, *words]))
    return lines


def _param(session: Session) -> list[str]:
    return _settings(session, lambda pin, _: isinstance(pin, Param))


def _unconnected(session: Session) -> list[str]:
    wired = {str(link.address) for signal in session.net.signals.values() for link in signal.links}
    return _settings(session, lambda pin, address: isinstance(pin, In) and address not in wired)


def _settings(session: Session, accepts: Callable[[object, str], bool]) -> list[str]:
    lines = []
    for name, instance in session.net.instances.items():
        for pin, (_, _, declared) in instance.sheet.slots.items():
            address = f"{name}.{pin}"
            if accepts(declared, address) and (values := session.values(address)).size == 1:
                value = values[0].item()
                text = exact(value) if isinstance(value, float) else one_value(value)
                lines.append(f"setp {address} {text}")
    return lines


def _thread(session: Session) -> list[str]:
    return [f"addf {name} {thread.name}" for thread in session.net.threads for name in thread.functions]


_PARTS: dict[str, Callable[[Session], list[str]]] = {
    "comp": _comp, "alias": _alias, "sig": _sig, "signal": _sig,
    "link": _link, "linka": lambda session: _link(session, arrows=True),
    "netl": _net, "netla": lambda session: _net(session, arrows=True), "netal": lambda session: _net(session, arrows=True),
    "param": _param, "parameter": _param, "thread": _thread, "unconnectedinpins": _unconnected,
}  # fmt: skip
_ALL = ("comp", "alias", "netla", "param", "thread")
_GROUPS = {"net": ("sig", "link"), "neta": ("sig", "linka"), "all": _ALL, "allu": (*_ALL, "unconnectedinpins"), "sigu": ()}
KINDS = (*_PARTS, *_GROUPS)
