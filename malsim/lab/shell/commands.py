"""Shell commands for sessions, pins, threads and files, named as in halcmd."""

from __future__ import annotations

import cmd
import shlex
import time
from dataclasses import replace
from getpass import getuser
from pathlib import Path
from typing import IO, TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
from malsim.base.files.outputs import save_text
from malsim.lab.shell import files, listing
from malsim.lab.shell.files import KINDS, save_lines
from malsim.lab.shell.hal.hal_script import HalBench
from malsim.lab.shell.listing import save_traces
from malsim.lab.shell.session import delf, unlinkp
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store
from malsim.netlist import parse
from malsim.netlist.hal.state import HalText
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.netlist.language.values import bit, number
from malsim.netlist.shipped.store_wires import inputs_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.lab.shell.files import SessionFile
    from malsim.netlist.language.statements import Statement

MOST_STEPS = 100_000
RATE = 10.0


class Commands(cmd.Cmd):
    """Shell commands, one method per command. The docstring of a method is the help text of its command."""

    def __init__(
        self, source: SessionFile, *, stdout: IO[str] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(stdout=stdout)
        self.session, self.home, self.clock = source.session, source.home, clock
        self.variables: dict[str, str] = {}  # variables of the INI file
        self.meter_names: list[str] = []
        self.running: tuple[float, float] | None = None
        self.new_signals: dict[str, tuple[str, float | None]] = {}
        self.hal = HalText("line")
        self.bench = HalBench(self.session, self.hal.instances, 0.0, Path(), self.say)
        self.failed = 0

    def read(self, line: str) -> list[Statement]:
        """Parse a typed line into netlist statements. The statements may refer to threads of this session."""
        threads = [thread.name for thread in self.session.net.threads]
        return [replace(statement, line=0) for statement in parse(line, file="line", threads=threads).statements]

    def say(self, text: object) -> None:
        print(text, file=self.stdout)

    def do_loadrt(self, line: str) -> None:
        """Load instances of an op: loadrt OP [names=A,B | count=N] [domain=cell] [inputs=N]."""
        self.sentence("loadrt", line)

    def do_thread(self, line: str) -> None:
        """Create a thread that runs at every Nth tick: thread NAME every N."""
        self.sentence("thread", line)

    def do_addf(self, line: str) -> None:
        """Add the function of an instance to a thread such as tick: addf FUNCTION THREAD [POSITION]."""
        self.sentence("addf", line)

    def do_setp(self, line: str) -> None:
        """Set a parameter, an unlinked input, or a loop pin such as reviewer.ack: setp PIN VALUE."""
        words = line.replace("=", " ").split()
        if len(words) == 2 and words[0] in LOOP_WRITES:  # noqa: PLR2004  # a pin and a value
            kind = LOOP_WRITES[words[0]][0]
            value = bit(words[1]) if kind == "bit" else number(words[1])
            if value is None:
                raise UsageError("not a bit" if kind == "bit" else "not a number", where=words[0], given=words[1])
            self._set_in_store(words[0], value)
            self.session = replace(self.session, loop_pins={**self.session.loop_pins, words[0]: value})
            return
        self.sentence("setp", line)

    def _set_in_store(self, name: str, value: float) -> None:
        """Set an input for the next tick of the store, if the session was opened from a store."""
        if self.home is None or not is_store(self.home):
            return
        with Store(self.home) as store:
            if name in inputs_of(store.standing):
                store.set_input(name, value, writer=getuser(), now=max(store.day or 0.0, self.session.day))
                self.say(f"{name} = {value:g} in {self.home} from the next tick on")

    def do_getp(self, line: str) -> None:
        """Print the value of a pin, a parameter, or an address such as dec_a3ee-scores-eff: getp PIN."""
        self.say(listing.read(self.session, *words_of("getp", line, "PIN")))

    def set_signal(self, line: str) -> None:
        signal, value = words_of("sets", line, "SIGNAL", "VALUE")
        self._check_signal(signal)
        session = self.session.with_statements(self.read(f"{signal} = {value}"))
        self._set_in_store(signal, session.net.initial[signal])
        self.session = session.put(signal, session.net.initial[signal])

    def print_signal(self, line: str) -> None:
        (signal,) = words_of("gets", line, "SIGNAL")
        self._check_signal(signal)
        self.say(listing.read(self.session, signal))

    def do_ptype(self, line: str) -> None:
        """Print the type of a pin, a parameter, a signal or an address: ptype PIN."""
        self.say(listing.type_of(self.session, *words_of("ptype", line, "PIN")))

    do_stype = do_ptype

    def do_delf(self, line: str) -> None:
        """Remove a function from its thread: delf FUNCTION [THREAD]."""
        words = line.split()
        self.session = delf(self.session, *(words if len(words) > 1 else [*words_of("delf", line, "FUNCTION"), "tick"]))

    def do_unlinkp(self, line: str) -> None:
        """Disconnect a pin from its signal: unlinkp PIN."""
        self.session = unlinkp(self.session, *words_of("unlinkp", line, "PIN"))

    def do_list(self, line: str) -> None:
        """Print the names of all items of one kind: list comp|pin|param|sig|funct|thread|cell [PATTERN]."""
        kind, pattern = [*line.split(), "", ""][:2]
        self.say(" ".join(listing.display_names(self.session, listing.names(self.session, kind, pattern))))

    def do_source(self, line: str) -> None:
        """Load a netlist (.malnet or .hal), unless the file has errors: source FILE."""
        document, _ = files.document(*words_of("source", line, "FILE"))
        self.session = self.session.with_statements(document.statements)

    def do_save(self, line: str) -> None:
        """Save to the opened file or to FILE, or print the netlist (-) or the commands of one KIND: save [FILE|-|KIND]."""
        kind, target = [*line.split(maxsplit=1), "", ""][:2]
        if kind in KINDS or (not kind and self.home is None):
            text = "\n".join(save_lines(self.session, kind or "all"))
            if target:
                save_text(target, f"{text}\n")
            self.say(target or text)
        elif line.strip() == "-":
            self.say(files.text(self.session).rstrip("\n"))
        else:
            self.say(files.write(self.session, Path(line.strip()) if kind else self.home or Path()))

    def do_step(self, line: str) -> None:
        """Run N ticks (default 1): step [N]."""
        count = int(line) if line.strip().isdecimal() else 1 if not line.strip() else 0
        if not 1 <= count <= MOST_STEPS:
            raise UsageError("out of bounds", where="step", given=line, allowed=f"1 to {MOST_STEPS}")
        self.step(count)

    def do_start(self, line: str) -> None:
        """Start a clock of RATE ticks per second (default 10); due ticks run before each command: start [RATE]."""
        rate = number(line) if line.strip() else RATE
        if rate is None or rate <= 0:
            raise UsageError("the rate is not a number above 0", where="start", given=line, allowed="ticks per second")
        self.running = (rate, self.clock())
        self.bench.runs = True

    def do_stop(self, line: str) -> None:
        """Stop the clock and keep all state: stop."""
        del line
        self.running = None
        self.bench.runs = False

    def do_meter(self, line: str) -> None:
        """Print pins, signals or addresses now and after every step; without NAME, stop printing them: meter [NAME…]."""
        words = line.split()
        for name in words:
            listing.read(self.session, name)
        self.meter_names = words
        self._meter()

    def do_scope(self, line: str) -> None:
        """Write the recorded signals to a .png, .svg, .vcd or .csv file: scope [SIGNAL…] out=FILE."""
        self.say(
            f"wrote {save_traces(self.session, shlex.split(line.replace('--save ', 'out=')))}"
        )  # halscope calls this option --save

    def do_quit(self, line: str) -> bool:
        """Leave the shell without saving: quit."""
        del line
        return True

    do_exit = do_quit

    def do_help(self, line: str) -> None:
        """Describe COMMAND, or all commands: help [COMMAND]."""
        for name in [line.strip()] if line.strip() else self.names():
            method = getattr(self, f"do_{name}", None)
            if method is None:
                raise UsageError("no such command", given=name, hint="enter help to list the commands")
            self.say(f"{name:<8} {(method.__doc__ or '').rstrip('.')}")

    def do_EOF(self, line: str) -> bool:  # noqa: N802  # name given by the cmd module
        """Leave the shell at the end of the input."""
        del line
        self.say("")
        return True

    def names(self) -> list[str]:
        return sorted(name.removeprefix("do_") for name in self.get_names() if name.startswith("do_") and name.islower())

    def _check_signal(self, name: str) -> None:
        if name not in self.session.net.signals:
            raise UsageError("no such signal", given=name, hint=nearest(name, self.session.net.signals) or None)

    def sentence(self, word: str, line: str) -> None:
        self.session = self.session.with_statements(self.read(f"{word} {line}"))

    def step(self, count: int) -> None:
        self.session = self.session.stepped(count)
        self._meter()

    def _meter(self) -> None:
        for name in self.meter_names:
            self.say(f"day {self.session.day:g}  {name}  {listing.read(self.session, name)}")


def words_of(command: str, line: str, *names: str) -> list[str]:
    words = line.split()
    if len(words) != len(names):
        raise UsageError(
            "wrong number of arguments", where=command, given=len(words), hint=f"write {command} {' '.join(names)}"
        )
    return words
