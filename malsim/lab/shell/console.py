"""Console of the interactive shell, which runs lines and scripts, completes words, and reports errors with positions."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ops
from malsim.base.errors import MalsimError, UsageError, nearest
from malsim.lab.shell import listing
from malsim.lab.shell.files import KINDS
from malsim.lab.shell.hal.hal_line import is_hal, respelled
from malsim.lab.shell.hal.hal_script import open_script
from malsim.lab.shell.halcmd import HalCommands
from malsim.netlist.hal.tokens import substitute
from malsim.netlist.language.faults import NetlistError
from malsim.netlist.language.lexicon import LOOP_READS, LOOP_WRITES, SCORES
from malsim.netlist.language.sentences.lines import comment_at, read_lines
from malsim.netlist.language.values import reads_as_handle
from ops.pin.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from malsim.lab.shell.hal.hal_script import HalScript
    from malsim.lab.shell.session import Session
    from malsim.netlist import Fault

MOST = 200
FILES = {".malnet", ".hal", ".sqlite"}


def candidates(session: Session, before: list[str], text: str) -> list[str]:
    """Return completions for `text`, given the words that precede it on the line (`before`)."""
    command, *words = before or [""]
    choices = _choices(session, command, len(words))
    return [name for name in dict.fromkeys(choices) if name.startswith(text)][:MOST]


def _choices(session: Session, command: str, position: int) -> list[str]:
    first = position == 0
    signals = listing.names(session, "sig")
    fixed = {
        "show": list(listing.KINDS), "list": list(listing.KINDS), "save": [*KINDS, *_files()], "source": _files(),
        "loadrt": sorted({*ops.sheets(), *words(), "threads"}), "alias": ["pin", "param"], "unalias": ["pin", "param"],
        "unload": [*listing.names(session, "comp"), "all"], "unloadrt": [*listing.names(session, "comp"), "all"],
        **dict.fromkeys(("sets", "gets", "stype", "delsig", "linksp", "net"), signals),
    }  # fmt: skip
    if first and command in fixed:
        return fixed[command]
    if command == "loadrt":
        return ["names=", "count=", "domain="]
    if command in {"addf", "delf"}:
        return listing.names(session, "funct" if first else "thread")
    pins = [name for kind in ("pin", "param") for name in listing.display_names(session, listing.names(session, kind))]
    fields = [f"{cell}-scores-{score}" for cell in listing.names(session, "cell")[:MOST] for score in SCORES]
    return [*pins, *signals, *fields, *LOOP_WRITES, *LOOP_READS]


def _files() -> list[str]:
    return sorted(str(path) for path in Path().glob("*") if path.is_dir() or path.suffix in FILES)


MOST_STEPS = 100_000
_QUOTED = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*(?:"|$))')


class Console(HalCommands):
    """Interactive shell with the commands of halcmd."""

    prompt = "malsim: "
    intro = "help lists the commands; only save writes files"

    def script(self, source: str | bytes, name: str, *, keep_going: bool = False) -> int:
        """Run the lines of a script, and return 1 if a line failed. Without `keep_going`, stop at the first failure."""
        if name.endswith(".hal") and not self.session.statements and not self.session.memory.cells.height:
            return self._hal_script(source, name, keep_going=keep_going)
        lines, faults = read_lines(source, name)
        if faults:
            raise NetlistError(faults)
        for line in lines:
            before = self.failed
            if self.onecmd(line.text, where=f"{name}:{line.number}: "):
                break
            if self.failed > before and not keep_going:
                break
        return int(self.failed > 0)

    def _hal_script(self, source: str | bytes, name: str, *, keep_going: bool) -> int:
        text = source if isinstance(source, bytes) else source.encode()
        script = open_script(
            text, name, self.session, folder=Path(name).parent, say=self.say, variables={**os.environ, **self.variables}
        )
        self.bench, self.hal = script.bench, script.translation.text
        for action in script.translation.actions:
            before = self.failed
            self._guard(f"{action.file}:{action.line}: ", partial(self._script_line, script, action.words, action.after))
            if self.failed > before and not keep_going:
                return 1
        self._guard("", script.wire)
        self.session = script.bench.session
        self.remember(script.translation.text)
        return int(self.failed > 0)

    def _script_line(self, script: HalScript, words: tuple[str, ...], after: int) -> None:
        script.wire(after)
        self.session = script.bench.session
        if self.echoes:
            self.say(" ".join(words))
        self.act(words)

    def onecmd(self, line: str, where: str = "") -> bool:
        """Run one line. Errors are printed and leave the session unchanged."""
        return self._guard(where, partial(self._line, line))

    def _line(self, line: str) -> bool:
        self._run_due_ticks()
        text = _with_variables(line[: comment_at(line)].strip(), {**os.environ, **self.variables})
        if self.echoes:
            self.say(text)
        text = respelled(text, self.hal, self.session)
        if text and is_hal(self.hal, self.session, words := text.split()):
            self.translate(words)
            return False
        return super().onecmd(text)

    def _guard(self, where: str, do: Callable[[], bool | None]) -> bool:
        try:
            return bool(do())
        except NetlistError as error:
            self._report("\n".join(_fault_text(fault, where) for fault in error.faults))
        except MalsimError as error:
            self._report(f"{where}{error}")
        except OSError as error:
            self._report(f"{where}{error.filename}: {(error.strerror or '').lower()}")
        return False

    def _report(self, problem: str) -> None:
        self.failed += 1
        self.say(problem)

    def parseline(self, line: str) -> tuple[str | None, str | None, str]:
        """Parse `NAME = VALUE` as an assignment, even if NAME is also a command."""
        return (None, None, line) if line.split()[1:2] == ["="] else super().parseline(line)

    def emptyline(self) -> bool:
        return False

    def default(self, line: str) -> None:
        """Run a netlist statement. Raises `UsageError` if the line begins with an unknown command."""
        word = line.split(maxsplit=1)[0]
        if line.split()[1:2] != ["="] and not reads_as_handle(word.lstrip("^").partition("@")[0]):
            hint = nearest(word, self.names(), "enter help to list the commands")
            raise UsageError("no such command", given=word, hint=hint)
        self.session = self.session.with_statements(self.read(line))

    def preloop(self) -> None:
        try:
            import readline
        except ImportError:  # some systems lack readline; the shell works without completion
            return
        readline.set_completer_delims(" \t\n")

    def completedefault(self, *args: Any) -> list[str]:
        text, line, begin, _ = args
        names = candidates(self.session, line[:begin].split(), text)
        return [f"{names[0]} "] if len(names) == 1 and not names[0].endswith("=") else names

    def _run_due_ticks(self) -> None:
        if self.running is not None:
            rate, since = self.running
            due = min(int((self.clock() - since) * rate), MOST_STEPS)
            if due:
                self.running = (rate, since + due / rate)
                self.step(due)


def _with_variables(line: str, variables: Mapping[str, str]) -> str:
    """Substitute the variables `$NAME` and `[SECTION]NAME`, except inside quotes."""

    def missing(word: str) -> None:
        hint = "add -i FILE to read an INI file" if word.startswith("[") else "set it in the environment"
        raise UsageError("this variable has no value", given=word, hint=hint)

    pieces = _QUOTED.split(line)
    pieces[::2] = [substitute(piece, variables, missing) for piece in pieces[::2]]
    return "".join(pieces)


def _fault_text(fault: Fault, where: str) -> str:
    """Format a fault with its position in a script. Faults in typed lines have no position."""
    text = str(fault)
    for position in (f"{fault.where}: ", "line:1: ", "line: ") if fault.file in {"line", "here"} else ():
        text = text.removeprefix(position)
    return f"{where}{text}"
