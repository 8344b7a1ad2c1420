"""The console: lines in, answers out; errors told with their place, scripts stopped at the first or kept going."""

from __future__ import annotations

from typing import Any

from malsim.errors import MalsimError, UsageError
from malsim.lab.shell.commands import Commands
from malsim.lab.shell.complete import candidates
from malsim.netlist import Fault, parse
from malsim.netlist.faults import NetlistError, nearest
from malsim.netlist.handles import reads_as_handle
from malsim.netlist.lines import comment_at, read_lines

__all__ = ["Console"]

MOST_STEPS = 100_000
RATE = 10.0
ELSEWHERE = {
    "newsig": "a signal comes with its first net", "linkps": "write net SIGNAL PIN", "linksp": "write net SIGNAL PIN",
    "loadusr": "nothing runs beside the tick; reviewer.ack and its like are pins of the loop", "delsig": "unlinkp its pins",
    "alias": "give the name where it is loaded: loadrt OP names=NAME", "lock": "nothing is written without save",
}  # fmt: skip


class Console(Commands):
    """A halcmd-like shell; `draw` writes a capture as a picture."""

    prompt = "malsim: "
    intro = "help lists the commands; nothing is written anywhere until you say save"

    def script(self, source: str | bytes, name: str, *, keep_going: bool = False) -> int:
        """Run a script's lines; stops at the first that fails unless told to keep going; 1 if any failed."""
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

    def onecmd(self, line: str, where: str = "") -> bool:
        """Do one line; an error is told and leaves everything as it was."""
        try:
            self._due()
            return bool(super().onecmd(line[: comment_at(line)].strip()))
        except NetlistError as error:
            self._told("\n".join(str(_placed(fault, where)) for fault in error.faults))
        except MalsimError as error:
            self._told(f"{where}{error}")
        except OSError as error:
            self._told(f"{where}{error.filename}: {error.strerror}")
        return False

    def _told(self, problem: str) -> None:
        self.failed += 1
        self.say(problem)

    def parseline(self, line: str) -> tuple[str | None, str | None, str]:
        """A line `NAME = VALUE` is a sentence, whatever the name begins like."""
        return (None, None, line) if line.split()[1:2] == ["="] else super().parseline(line)

    def emptyline(self) -> bool:
        """Nothing said, nothing done."""
        return False

    def default(self, line: str) -> None:
        """A sentence of the netlist language, or a word nobody knows."""
        word = line.split(maxsplit=1)[0]
        if line.split()[1:2] != ["="] and not reads_as_handle(word.lstrip("^").partition("@")[0]):
            hint = ELSEWHERE.get(word) or nearest(word, self.names()) or "help lists them"
            raise UsageError("unknown command", given=word, hint=hint)
        self.session = self.session.told(parse(line, file="line").statements)

    def preloop(self) -> None:
        """Let completion see whole addresses."""
        try:
            import readline
        except ImportError:  # not every system has it; the shell works without
            return
        readline.set_completer_delims(" \t\n")

    def completedefault(self, *ignored: Any) -> list[str]:
        """The names that can stand here."""
        text, line, begin, _ = ignored
        found = candidates(self.session, line[:begin].split(), text)
        return [f"{found[0]} "] if len(found) == 1 and not found[0].endswith("=") else found

    def _due(self) -> None:
        """Make the ticks that are due since the last command."""
        if self.running is not None:
            rate, since = self.running
            due = min(int((self.clock() - since) * rate), MOST_STEPS)
            if due:
                self.running = (rate, since + due / rate)
                self._step(due)


def _placed(fault: Fault, where: str) -> str:
    """A fault of a line that was typed needs no place; one of a script gets the script's."""
    text = str(fault)
    for own in (f"{fault.where}: ", "line:1: "):
        if fault.file in {"line", "here"} and text.startswith(own):
            text = text.removeprefix(own)
    return f"{where}{text}"
