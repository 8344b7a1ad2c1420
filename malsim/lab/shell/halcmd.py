"""halcmd commands for LinuxCNC names, unlinked signals, unloading, messages and the status."""

from __future__ import annotations

import cmd
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch

from malsim.base.errors import MalsimError, UsageError
from malsim.lab.shell import listing
from malsim.lab.shell.commands import Commands, words_of
from malsim.lab.shell.files import SECOND
from malsim.lab.shell.hal.hal_line import translated, wired
from malsim.lab.shell.session import Session, delsig, unload
from malsim.netlist.engine.engine import DAY
from malsim.netlist.hal.parts import shown_names
from malsim.netlist.hal.state import SIGNAL_TYPES, HalText
from malsim.netlist.language.statements import Wire
from malsim.netlist.language.values import bit, exact, number


class HalCommands(Commands):
    """Shell commands that need LinuxCNC's names, or signals that are declared before they are linked."""

    echoes = False

    def translate(self, words: Sequence[str]) -> None:
        """Run a command in LinuxCNC syntax, as in a `.hal` script. An error leaves the session unchanged."""
        before, text = self.session, translated(self.hal, self.session, words)
        if text.period and not self.hal.period and not before.statements:
            tick = text.period * DAY  # one simulated day represents one second of LinuxCNC
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
        """Store the translator state, because later lines and listings need its LinuxCNC names."""
        self.hal = text
        self.bench.instances, self.bench.period = text.instances, text.period or self.session.tick / DAY
        self.session = replace(self.session, pin_names=shown_names(text.instances, text.aliases))

    def do_alias(self, line: str) -> None:
        """Give a pin or parameter a second name: alias pin|param NAME ALIAS."""
        self.translate(["alias", *line.split()])

    def do_unalias(self, line: str) -> None:
        """Remove an alias, given the alias or the name of the pin or parameter: unalias pin|param NAME."""
        self.translate(["unalias", *line.split()])

    def do_linkps(self, line: str) -> None:
        """Link a pin to a signal, like net: linkps PIN SIGNAL."""
        raise UsageError("linkps needs a pin and a signal", given=line, hint="write linkps PIN SIGNAL")

    def do_linksp(self, line: str) -> None:
        """Link a signal to a pin, like net: linksp SIGNAL PIN."""
        raise UsageError("linksp needs a signal and a pin", given=line, hint="write linksp SIGNAL PIN")

    def do_linkpp(self, line: str) -> None:
        """Link two pins through a signal that is named after the first pin: linkpp PIN PIN."""
        raise UsageError("linkpp needs two pins", given=line, hint="write linkpp PIN PIN")

    def do_lock(self, line: str) -> None:
        """Do nothing (in LinuxCNC, this locks the configuration): lock [all|tune|none]."""
        _check_choice("lock", line, ("", "all", "tune", "none"))

    def do_unlock(self, line: str) -> None:
        """Do nothing (in LinuxCNC, this unlocks the configuration): unlock [all|tune]."""
        _check_choice("unlock", line, ("", "all", "tune"))

    def do_debug(self, line: str) -> None:
        """Do nothing (in LinuxCNC, this sets the message level): debug LEVEL."""
        if number(line.strip().lstrip("+-") or "0") is None:
            raise UsageError("debug needs a level", given=line, allowed="0 to 5")

    def do_loadusr(self, line: str) -> None:
        """Run a LinuxCNC program: loadusr sleep SECONDS|halstreamer …|halsampler …."""
        self.act(("loadusr", *line.split()))

    def do_waitusr(self, line: str) -> None:
        """Do nothing, because programs always finish before the next line: waitusr NAME."""
        if not line.strip():
            raise UsageError("waitusr needs the name of a program: waitusr NAME")

    def do_print(self, line: str) -> None:
        """Print the given words, or an empty line: print [WORD…]."""
        self.say(line)

    def do_echo(self, line: str) -> None:
        """Print the given words or, without words, print each command before it runs: echo [WORD…]."""
        self.echoes = self.echoes or not line
        if line:
            self.say(line)

    def do_unecho(self, line: str) -> None:
        """Stop printing commands before they run: unecho."""
        del line
        self.echoes = False

    def do_status(self, line: str) -> None:
        """Print the time, the number of ticks and the number of loaded items: status [all|lock|mem]."""
        _check_choice("status", line, ("", "all", "lock", "mem"))
        session, period = self.session, self.hal.period
        time = f"{session.day:g} s" if period else f"day {session.day:g}"  # one simulated day represents one second
        length = duration(period * SECOND if period else session.tick)
        self.say(f"{time}, {counted(session.state.ticks, 'tick')} made, a tick is {length}")
        if self.running is not None:
            self.say(f"running {self.running[0]:g} ticks per second")
        kinds = {"comp": "instance", "sig": "signal", "thread": "thread", "cell": "cell"}
        self.say(", ".join(counted(len(listing.names(session, kind)), word) for kind, word in kinds.items()))

    def do_newsig(self, line: str) -> None:
        """Declare a signal and its type before linking it: newsig SIGNAL bit|float|s32|…."""
        signal, kind = words_of("newsig", line, "SIGNAL", "TYPE")
        if kind not in SIGNAL_TYPES:
            raise UsageError("no such signal type", given=kind, allowed=" ".join(SIGNAL_TYPES))
        if signal in self.session.net.signals or signal in self.new_signals:
            raise UsageError("this name is already used", given=signal, hint="choose another name")
        self.new_signals = {**self.new_signals, signal: (SIGNAL_TYPES[kind], None)}

    def do_sets(self, line: str) -> None:
        """Set a signal that no pin writes: sets SIGNAL VALUE."""
        signal, _, word = line.strip().partition(" ")
        if not self._is_unlinked(signal) or not word:
            self.set_signal(line)
            return
        kind, _ = self.new_signals[signal]
        value = bit(word.strip()) if kind == "bit" else number(word.strip())
        if value is None:
            raise UsageError("not a bit" if kind == "bit" else "not a number", where=signal, given=word.strip())
        self.new_signals = {**self.new_signals, signal: (kind, value)}

    def do_gets(self, line: str) -> None:
        """Print the value of a signal: gets SIGNAL."""
        if self._is_unlinked(line.strip()):
            self.say(self._new_value(line.strip()))
        else:
            self.print_signal(line)

    def do_show(self, line: str) -> None:
        """Print tables of the loaded items: show [comp|pin|param|sig|funct|thread|cell [PATTERN]]."""
        kind, pattern = [*line.split(), "", ""][:2]
        kind = "" if kind == "all" else kind
        for name in [kind] if kind else listing.KINDS:
            if not kind:
                self.say(f"-- {name}: {listing.KINDS[name]}")
            self.say(listing.show(self.session, name, pattern))
        for name, (type_name, _) in self.new_signals.items() if kind in {"", "sig"} else ():
            if self._is_unlinked(name) and (name.startswith(pattern) or fnmatch(name, pattern)):
                self.say(f"{type_name}  {self._new_value(name)}  {name}  not linked yet")

    def _is_unlinked(self, signal: str) -> bool:
        return signal in self.new_signals and signal not in self.session.net.signals

    def _new_value(self, signal: str) -> str:
        kind, value = self.new_signals[signal]
        return listing.one_value(value or 0.0, kind)

    def do_delsig(self, line: str) -> None:
        """Disconnect all pins from a signal and remove the signal: delsig SIGNAL|all."""
        (signal,) = words_of("delsig", line, "SIGNAL")
        if signal in self.session.net.signals or signal not in self.new_signals:
            self.session = delsig(self.session, signal)
        self.new_signals = {name: kind for name, kind in self.new_signals.items() if signal not in {"all", name}}

    def do_unload(self, line: str) -> None:
        """Remove an instance, or all instances of an op, with their wires and settings: unload NAME|all."""
        self.session = unload(self.session, *words_of("unload", line, "NAME"))

    do_unloadrt = do_unload

    def do_unloadusr(self, line: str) -> None:
        """Do nothing, because programs always finish before the next line: unloadusr all."""
        if line.strip() != "all":
            raise UsageError("no such program", given=line, allowed="all")

    def do_net(self, line: str) -> None:
        """Connect pins, fields or addresses to a signal; > or < may separate writer and readers: net SIGNAL PIN…."""
        before = self.session
        self.sentence("net", line)
        new = self.session.statements[-1:]
        signal = new[0].signal if new and isinstance(new[0], Wire) else ""
        if signal not in self.new_signals:
            return
        (kind, value), net_signal = self.new_signals[signal], self.session.net.signals[signal]
        if net_signal.type != kind:
            self.session = before
            raise UsageError("the signal was declared with another type", given=f"{signal}: {net_signal.type}", allowed=kind)
        if value is not None and net_signal.writer is None and signal not in self.session.net.initial:
            self.set_signal(f"{signal} {exact(value)}")


def duration(milliseconds: float) -> str:
    """Format a duration in the largest unit that gives a number of at least 1.

    >>> duration(8.64e7), duration(1.0), duration(7200e3)
    ('1 day', '1 ms', '2 hours')
    """
    units = {"day": 8.64e7, "hour": 3.6e6, "minute": 6e4, "s": 1e3, "ms": 1.0}
    unit, length = next(((name, size) for name, size in units.items() if milliseconds >= size), ("us", 1e-3))
    count = milliseconds / length
    return f"{count:g} {unit}{'s' if len(unit) > 2 and count != 1 else ''}"  # noqa: PLR2004  # SI symbols have no plural


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _check_choice(command: str, line: str, choices: Sequence[str]) -> None:
    if line.strip() not in choices:
        raise UsageError(f"no such {command} level", given=line.strip(), allowed=" ".join(filter(None, choices)))
