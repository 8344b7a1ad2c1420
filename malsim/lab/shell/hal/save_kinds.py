"""Parts of a session as halcmd commands, as its `save` prints them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.lab.shell.listing import one_value
from malsim.netlist import render
from malsim.netlist.language.statements import Load, Thread
from malsim.netlist.language.values import exact
from ops.pin import In, Param

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.lab.shell.session import Session


def save_lines(session: Session, kind: str) -> list[str]:
    """Return the commands that make one kind of item: one of `KINDS`. Ops and pins have the names of the netlist."""
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
