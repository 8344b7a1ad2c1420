"""Commands that halcmd has besides: messages, signals by name, unloading, and how the session stands."""

from __future__ import annotations

from fnmatch import fnmatch

from malsim.base.errors import UsageError
from malsim.lab.shell import edits, listing
from malsim.lab.shell.commands import Commands
from malsim.netlist.hal.state import SIGNAL_TYPES
from malsim.netlist.language.statements import Wire
from malsim.netlist.language.values import bit, exact, number


class HalCommands(Commands):
    """What halcmd says of messages, empty signals and unloading, a method a command."""

    echoes = False

    def do_print(self, line: str) -> None:
        """Print words, or an empty line: print [WORD…]."""
        self.say(line)

    def do_echo(self, line: str) -> None:
        """Print words; without any, show each command before it is done: echo [WORD…]."""
        self.echoes = self.echoes or not line
        if line:
            self.say(line)

    def do_unecho(self, line: str) -> None:
        """Show commands no longer: unecho."""
        del line
        self.echoes = False

    def do_status(self, line: str) -> None:
        """Say how the session stands: the day, the ticks made, what is loaded: status."""
        del line
        net, rate = self.session.net, self.running
        self.say(f"day {self.session.day:g}, {self.session.state.ticks} ticks made, a tick is {self.session.tick:g} ms")
        if rate is not None:
            self.say(f"{rate[0]:g} ticks a second since start")
        counts = [f"{len(net.instances)} instances", f"{len(net.signals)} signals", f"{len(net.threads)} threads"]
        self.say(", ".join([*counts, f"{len(listing.names(self.session, 'cell'))} cells"]))

    def do_newsig(self, line: str) -> None:
        """Name a signal and its type before its first net, which makes it: newsig SIGNAL bit|float|s32|…."""
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
            raise UsageError(f"this is no {kind}", where=signal, given=word.strip())
        self.new_signals = {**self.new_signals, signal: (kind, value)}

    def do_gets(self, line: str) -> None:
        """Print a signal: gets SIGNAL."""
        if self._waits(line.strip()):
            self.say(self._value(line.strip()))
        else:
            super().do_gets(line)

    def do_show(self, line: str) -> None:
        """Tables of what there is: show [comp|pin|param|sig|funct|thread|cell [PATTERN]]."""
        super().do_show(line)
        kind, pattern = [*line.split(), "", ""][:2]
        for name, (type_name, _) in self.new_signals.items() if kind in {"", "sig"} else ():
            if self._waits(name) and (name.startswith(pattern) or fnmatch(name, pattern)):
                self.say(f"{type_name}  {self._value(name)}  {name}  on no pin yet")

    def _waits(self, signal: str) -> bool:
        """Whether it was named, and no net has made it yet."""
        return signal in self.new_signals and signal not in self.session.net.signals

    def _value(self, signal: str) -> str:
        kind, value = self.new_signals[signal]
        return listing.one_value(value or 0.0, kind)

    def do_delsig(self, line: str) -> None:
        """Take every pin off a signal, which is gone then: delsig SIGNAL|all."""
        signal = line.strip()
        if signal in self.session.net.signals or signal not in self.new_signals:
            self.session = edits.delsig(self.session, signal)
        self.new_signals = {name: kind for name, kind in self.new_signals.items() if signal not in {"all", name}}

    def do_unload(self, line: str) -> None:
        """Take away an instance, or all of an op, with their wires and settings: unload NAME|all."""
        if len(line.split()) != 1:
            raise UsageError("unload takes NAME", given=line)
        self.session = edits.unload(self.session, line.strip())

    do_unloadrt = do_unload

    def do_unloadusr(self, line: str) -> None:
        """Stop a program beside the ticks; there is none here, so only all is understood: unloadusr all."""
        if line.strip() != "all":
            raise UsageError("no program runs beside the ticks", given=line, allowed="all")

    def do_net(self, line: str) -> None:
        """Put pins, fields or addresses on a signal, > or < between writer and readers: net SIGNAL PIN…."""
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
