"""The scope of a shell: its ticks so far as a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.scope import Recording, Trigger, capture
from malsim.lab.scope.capture import EVENTS
from malsim.netlist.language.values import number

if TYPE_CHECKING:
    from malsim.lab.scope import Capture
    from malsim.lab.shell.session import Session

_TRIGGER = {"level": float, "edge": str, "position": float, "number": int}


def capture_of(session: Session, words: list[str]) -> tuple[Capture, str]:
    """A capture of the channels named, under the settings among the words, and the file for its drawing."""
    if not session.past:
        raise UsageError("nothing has been recorded yet", hint="step 20 makes twenty ticks")
    settings = dict(word.split("=", 1) for word in words if "=" in word and not word.startswith("="))
    channels = [word for word in words if "=" not in word]
    out, on, record = settings.pop("out", ""), settings.pop("trigger", ""), settings.pop("record", "")
    trigger = None
    if on:
        trigger = Trigger(on=on, **{name: _value(name, settings.pop(name)) for name in _TRIGGER if name in settings})
    if settings:
        allowed = "trigger= level= edge= position= number= record= out="
        raise UsageError("a scope has no such setting", given=" ".join(settings), allowed=allowed)
    length = int(_value("number", record)) if record else None
    return capture(_recording(session), channels, trigger=trigger, record=length), out


def _value(name: str, text: str) -> Any:
    kind = _TRIGGER[name]
    if kind is str:
        return text
    value = number(text)
    if value is None or (kind is int and value != int(value)):
        raise UsageError("this is no number", where=name, given=text)
    return kind(value)


def _recording(session: Session) -> Recording:
    cells, signals = session.frames()
    blank = pl.DataFrame(schema={"t": pl.Float64, "rep": pl.Int32})
    events = pl.DataFrame(schema={"rep": pl.Int32, **EVENTS})
    return Recording.of_frames(cells, signals, blank, events, rep=0, memory=session.memory, pins=session.net.pins)
