"""Further commands of halcmd: messages, unlinked signals, unloading, and the status of the session."""

from __future__ import annotations

import cmd
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch

from malsim.base.errors import MalsimError, UsageError
from malsim.lab.shell import listing
from malsim.lab.shell.commands import Commands
from malsim.lab.shell.files import SECOND
from malsim.lab.shell.hal.hal_line import translated, wired
from malsim.lab.shell.session import Session, delsig, unload
from malsim.netlist.engine.engine import DAY
from malsim.netlist.hal.parts import shown_names
from malsim.netlist.hal.state import SIGNAL_TYPES, HalText
from malsim.netlist.language.statements import Wire
from malsim.netlist.language.values import bit, exact, number


class HalCommands(Commands):
    """Commands of halcmd for LinuxCNC's names, messages, unlinked signals and unloading, one method each."""

    echoes = False

    def translate(self, words: Sequence[str]) -> None:
        """Run one command in LinuxCNC's syntax, as a `.hal` script does; an error leaves the session unchanged."""
        before, text = self.session, translated(self.hal, self.session, words)
        if text.period and not self.hal.period and not before.statements:
            tick = text.period * DAY  # a day for each second
            self.session = Session.over(before.memory, rules=before.rules, day=before.day, tick=tick)
        try:
            self.session = wired(self.session, text.statements)
            for action in text.actions:
                self.act(action.words)
        except MalsimError:
            self.session = before
            raise
        self.remember(text)

    def act(self, words: Sequence[str]) -> None:
        self.bench.session = self.session
        if self.bench.act(tuple(words)):
            self.session = self.bench.session
        else:
            cmd.Cmd.onecmd(self, " ".join(words))

    def remember(self, text: HalText) -> None:
        """Store LinuxCNC's names of loaded components, for later lines and for listings."""
        self.hal = text
        self.bench.instances, self.bench.period = text.instances, text.period or self.session.tick / DAY
        self.session = replace(self.session, pin_names=shown_names(text.instances, text.aliases))

    def do_alias(self, line: str) -> None:
        """Give a pin or parameter a second name, which listings show: alias pin|param NAME ALIAS."""
        self.translate(["alias", *line.split()])

    def do_unalias(self, line: str) -> None:
        """Remove an alias, by its own name or by the pin's: unalias pin|param NAME."""
        self.translate(["unalias", *line.split()])

    def do_linkps(self, line: str) -> None:
        """Link a pin to a signal; net does the same: linkps PIN SIGNAL."""
        raise UsageError("linkps needs a pin and a signal", given=line, allowed="linkps PIN SIGNAL")

    def do_linksp(self, line: str) -> None:
        """Link a signal to a pin; net does the same: linksp SIGNAL PIN."""
        raise UsageError("linksp needs a signal and a pin", given=line, allowed="linksp SIGNAL PIN")

    def do_linkpp(self, line: str) -> None:
        """Link two pins by a signal with the first one's name: linkpp PIN PIN."""
        raise UsageError("linkpp needs two pins", given=line, allowed="linkpp PIN PIN")

    def do_lock(self, line: str) -> None:
        """Accept a lock, which has no effect because nothing is written before save: lock [all|tune|none]."""
        _one_of("lock", line, ("", "all", "tune", "none"))

    def do_unlock(self, line: str) -> None:
        """Accept an unlock, which has no effect: unlock [all|tune]."""
        _one_of("unlock", line, ("", "all", "tune"))

    def do_debug(self, line: str) -> None:
        """Accept a level of messages, which has no effect: debug LEVEL."""
        if number(line.strip().lstrip("+-") or "0") is None:
            raise UsageError("debug needs a level", given=line, allowed="0 to 5")

    def do_loadusr(self, line: str) -> None:
        """Run a program that feeds, reads or waits for the threads: loadusr sleep SECONDS|halstreamer …|halsampler …."""
        self.act(("loadusr", *line.split()))

    def do_waitusr(self, line: str) -> None:
        """Accept the wait for a program; every program here has ended when its line is done: waitusr NAME."""
        if not line.strip():
            raise UsageError("waitusr needs a program's name", allowed="waitusr NAME")

    def do_print(self, line: str) -> None:
        """Print words, or an empty line: print [WORD…]."""
        self.say(line)

    def do_echo(self, line: str) -> None:
        """Print words; without any, show each command before it is done: echo [WORD…]."""
        self.echoes = self.echoes or not line
        if line:
            self.say(line)

    def do_unecho(self, line: str) -> None:
        """Stop showing commands: unecho."""
        del line
        self.echoes = False

    def do_status(self, line: str) -> None:
        """Print the time, the number of ticks made and what is loaded: status [all|lock|mem]."""
        _one_of("status", line, ("", "all", "lock", "mem"))
        session, period = self.session, self.hal.period
        time = f"{session.day:g} s" if period else f"day {session.day:g}"  # a day stands for each second of LinuxCNC
        length = duration(period * SECOND if period else session.tick)
        self.say(f"{time}, {counted(session.state.ticks, 'tick')} made, a tick is {length}")
        if self.running is not None:
            self.say(f"{self.running[0]:g} ticks a second since start")
        kinds = {"comp": "instance", "sig": "signal", "thread": "thread", "cell": "cell"}
        self.say(", ".join(counted(len(listing.names(session, kind)), word) for kind, word in kinds.items()))

    def do_newsig(self, line: str) -> None:
        """Declare a signal and its type before its first net: newsig SIGNAL bit|float|s32|…."""
        words = line.split()
        if len(words) != 2:  # noqa: PLR2004 - a signal and a type
            raise UsageError("newsig takes SIGNAL TYPE", given=f"{len(words)} given")
        signal, kind = words
        if kind not in SIGNAL_TYPES:
            raise UsageError("unknown signal type", given=kind, allowed=" ".join(SIGNAL_TYPES))
        if signal in self.session.net.signals or signal in self.new_signals:
            raise UsageError("duplicate signal", given=signal)
        self.new_signals = {**self.new_signals, signal: (SIGNAL_TYPES[kind], None)}

    def do_sets(self, line: str) -> None:
        """Set a signal that no pin writes: sets SIGNAL VALUE."""
        signal, _, word = line.strip().partition(" ")
        if not self._waits(signal) or not word:
            super().do_sets(line)
            return
        kind, _ = self.new_signals[signal]
        value = bit(word.strip()) if kind == "bit" else number(word.strip())
        if value is None:
            raise UsageError(f"not a {kind}", where=signal, given=word.strip())
        self.new_signals = {**self.new_signals, signal: (kind, value)}

    def do_gets(self, line: str) -> None:
        """Print a signal: gets SIGNAL."""
        if self._waits(line.strip()):
            self.say(self._value(line.strip()))
        else:
            super().do_gets(line)

    def do_show(self, line: str) -> None:
        """Print tables of items: show [comp|pin|param|sig|funct|thread|cell [PATTERN]]."""
        super().do_show(line)
        kind, pattern = [*line.split(), "", ""][:2]
        for name, (type_name, _) in self.new_signals.items() if kind in {"", "sig"} else ():
            if self._waits(name) and (name.startswith(pattern) or fnmatch(name, pattern)):
                self.say(f"{type_name}  {self._value(name)}  {name}  on no pin yet")

    def _waits(self, signal: str) -> bool:
        return signal in self.new_signals and signal not in self.session.net.signals

    def _value(self, signal: str) -> str:
        kind, value = self.new_signals[signal]
        return listing.one_value(value or 0.0, kind)

    def do_delsig(self, line: str) -> None:
        """Disconnect every pin from a signal and remove it: delsig SIGNAL|all."""
        signal = line.strip()
        if signal in self.session.net.signals or signal not in self.new_signals:
            self.session = delsig(self.session, signal)
        self.new_signals = {name: kind for name, kind in self.new_signals.items() if signal not in {"all", name}}

    def do_unload(self, line: str) -> None:
        """Remove an instance, or all of an op, with wires and settings: unload NAME|all."""
        if len(line.split()) != 1:
            raise UsageError("unload takes NAME", given=line)
        self.session = unload(self.session, line.strip())

    do_unloadrt = do_unload

    def do_unloadusr(self, line: str) -> None:
        """Accept the end of all programs, which have ended with their lines: unloadusr all."""
        if line.strip() != "all":
            raise UsageError("every program has ended with its line, so none can be unloaded", given=line, allowed="all")

    def do_net(self, line: str) -> None:
        """Connect pins, fields or addresses to a signal, > or < between writer and readers: net SIGNAL PIN…."""
        before = self.session
        super().do_net(line)
        new = self.session.statements[-1:]
        signal = new[0].signal if new and isinstance(new[0], Wire) else ""
        if signal not in self.new_signals:
            return
        (kind, value), net_signal = self.new_signals[signal], self.session.net.signals[signal]
        if net_signal.type != kind:
            self.session = before
            raise UsageError("the signal was named with another type", given=f"{signal}: {net_signal.type}", allowed=kind)
        if value is not None and net_signal.writer is None and signal not in self.session.net.initial:
            super().do_sets(f"{signal} {exact(value)}")


def duration(milliseconds: float) -> str:
    """Return a length of time in the largest unit that gives at least one.

    >>> duration(8.64e7), duration(1.0), duration(7200e3)
    ('1 day', '1 ms', '2 hours')
    """
    units = {"day": 8.64e7, "hour": 3.6e6, "minute": 6e4, "s": 1e3, "ms": 1.0}
    unit, length = next(((name, size) for name, size in units.items() if milliseconds >= size), ("us", 1e-3))
    count = milliseconds / length
    return f"{count:g} {unit}{'s' if len(unit) > 2 and count != 1 else ''}"  # noqa: PLR2004 - symbols of SI have no plural


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _one_of(command: str, line: str, choices: Sequence[str]) -> None:
    if line.strip() not in choices:
        raise UsageError(f"{command} has no such level", given=line.strip(), allowed=" ".join(filter(None, choices)))
