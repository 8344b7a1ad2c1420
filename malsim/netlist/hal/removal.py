"""Statements with something taken away: pins off their signals, functions off their threads, instances unloaded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.netlist.language.statements import Load, Schedule, Set, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from malsim.netlist.language.statements import Statement

__all__ = ["without_functions", "without_instances", "without_pins", "without_signal"]


def without_pins(statements: Iterable[Statement], pins: Collection[str]) -> list[Statement]:
    """The statements with these pins on no signal."""
    return _without_ends(list(statements), lambda _, pin: pin in pins)


def without_signal(statements: Iterable[Statement], signal: str) -> list[Statement]:
    """The statements with nothing on a signal, or on any for `all`."""
    return _without_ends(list(statements), lambda wire, _: signal in {"all", wire.signal})


def without_functions(statements: Iterable[Statement], functions: Collection[str]) -> list[Statement]:
    """The statements with these functions on no thread."""
    return [one for one in statements if not (isinstance(one, Schedule) and one.op in functions)]


def without_instances(statements: Iterable[Statement], names: Collection[str]) -> list[Statement]:
    """The statements without these instances, their pins, settings and functions; every `loadrt` lists its names."""
    kept: list[Statement] = []
    for one in without_functions(statements, names):
        if isinstance(one, Load) and set(one.names) & set(names):
            left = tuple(name for name in one.names if name not in names)
            kept += [replace(one, names=left)] if left else []
        elif not (isinstance(one, Set) and _owner(one.address) in names):
            kept.append(one)
    return _without_ends(kept, lambda _, pin: _owner(pin) in names)


def _owner(pin: str) -> str:
    return pin.rpartition(".")[0]


def _without_ends(statements: list[Statement], gone: Callable[[Wire, str], bool]) -> list[Statement]:
    kept: list[Statement] = []
    for one in statements:
        if not isinstance(one, Wire):
            kept.append(one)
        elif left := tuple(end for end in one.ends if not gone(one, end.address)):
            kept.append(one if left == one.ends else replace(one, ends=left))
    lost = _signals(statements) - _signals(kept)
    return [one for one in kept if not (isinstance(one, Set) and one.address in lost)]


def _signals(statements: Iterable[Statement]) -> set[str]:
    return {one.signal for one in statements if isinstance(one, Wire)}
