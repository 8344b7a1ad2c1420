"""`.hal` scripts, run as by halrun: first the wiring, then ticks until halsampler has its samples."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import DataError, UsageError
from malsim.base.files.text_files import read_text
from malsim.lab.shell.hal.hal_line import wired
from malsim.lab.shell.session import Session, delf, delsig, signals_by_pin, unlinkp, unload
from malsim.netlist.engine.engine import DAY
from malsim.netlist.hal import read_hal
from malsim.netlist.hal.parts import shown_names
from malsim.netlist.language.faults import NetlistError
from malsim.netlist.language.values import bit, number
from malsim.netlist.wiring import linked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from malsim.netlist.hal import Translated
    from malsim.netlist.hal.state import HalInstance, OpPart

MOST_TICKS = 1_000_000
_HEREDOC = re.compile(r"halstreamer([^\n<]*)<<\s*(\w+)\n(.*?)^\2$", re.DOTALL | re.MULTILINE)
_PROGRAM_FLAGS = {"-w", "-W", "-i"}
_SHELLS = {"sh", "bash"}


@dataclass
class HalBench:
    """HAL session whose threads run while a program such as halsampler waits.

    `period` is the base period in seconds, `waiting` the remaining rows of halstreamer by channel, and `runs` whether the
    threads are started.
    """

    session: Session
    instances: Mapping[str, HalInstance]
    period: float
    folder: Path
    say: Callable[[object], None]
    waiting: dict[int, list[list[str]]] = field(default_factory=lambda: defaultdict(list))
    runs: bool = False

    def act(self, words: tuple[str, ...]) -> bool:
        """Perform an action on the threads or the wiring. Return False if the action is a shell command instead."""
        name, *rest = words
        if name in {"start", "stop"}:
            self.runs = name == "start"
        elif name == "loadusr":
            _program(self, rest)
        elif name == "alias":
            self.session = replace(self.session, pin_names={**self.session.pin_names, rest[0]: rest[1]})
        elif name == "unlinkp":
            signals = signals_by_pin(self.session.net)
            self.session = unlinkp(self.session, *(pin for pin in rest if pin in signals))
        elif name == "delsig":
            names = {"all", *self.session.net.signals}
            self.session = reduce(delsig, (signal for signal in rest if signal in names), self.session)
        elif name == "delf":
            for function in rest:
                threads = (thread.name for thread in self.session.net.threads if function in thread.functions)
                self.session = delf(self.session, function, next(threads))
        elif name == "unload":
            self.session = reduce(unload, rest, self.session)
        else:
            return False
        return True

    def tick(self) -> None:
        """Fill the ring buffers of all streamers, then run the threads once."""
        for channel, rows in self.waiting.items():
            self._fill(channel, rows)
        now = self.session.day + self.session.tick / DAY
        scan = self.session.engine.scan(self.session.state, self.session.memory, self.session.loop_pins, now=now)
        self.session = replace(self.session, memory=scan.memory, state=scan.state, day=now)

    def parts(self, component: str, channel: int) -> tuple[OpPart, ...]:
        """Return the ring buffers of a sampler or streamer channel, one per pin."""
        name = f"{component}.{channel}"
        if name not in self.instances:
            raise UsageError(f"no such {component} channel", given=channel, hint=f"load it first: loadrt {component}")
        return self.instances[name].parts

    def _fill(self, channel: int, rows: list[list[str]]) -> None:
        parts = self.parts("streamer", channel)
        state = {**self.session.state.ops}
        first = state[parts[0].name]
        room = len(first["kept"]) - int(first["held"][0])
        new, rows[:] = rows[:room], rows[room:]
        for index, part in enumerate(parts):
            ring = dict(state[part.name])
            slots, end = ring["kept"].copy(), int(ring["first"][0]) + int(ring["held"][0])
            for row, words in enumerate(new, end):
                is_bit = part.type == "bit" and bit(words[index]) is not None
                slots[row % len(slots), 0] = bit(words[index]) if is_bit else number(words[index]) or 0.0
            state[part.name] = {**ring, "kept": slots, "held": ring["held"] + len(new)}
        self.session = replace(self.session, state=replace(self.session.state, ops=state))

    def drain(self, channel: int, *, tagged: bool) -> list[str]:
        """Remove all samples from a sampler channel and return them as lines in halsampler's format."""
        parts = self.parts("sampler", channel)
        state = {**self.session.state.ops}
        first = state[parts[0].name]
        count, begin, accepted = (int(first[key][0]) for key in ("held", "first", "accepted"))
        lines = []
        for row in range(count):
            tag = [f"{accepted - count + row} "] if tagged else []
            slot = (begin + row) % len(first["kept"])
            lines.append("".join([*tag, *(_sample_text(state[part.name]["kept"][slot, 0]) for part in parts)]))
        for part in parts:
            ring = state[part.name]
            state[part.name] = {**ring, "held": ring["held"] * 0, "first": (ring["first"] + count) % len(ring["kept"])}
        self.session = replace(self.session, state=replace(self.session.state, ops=state))
        return lines


@dataclass
class HalScript:
    """State of a `.hal` script that is being run: its translation, its bench, and the number of statements wired so far."""

    bench: HalBench
    translation: Translated
    wired_count: int = 0

    def wire(self, end: int | None = None) -> None:
        """Wire the statements not yet wired, up to index `end` (by default all of them)."""
        new = self.translation.statements[self.wired_count : end]
        self.wired_count += len(new)
        self.bench.session = wired(self.bench.session, new)


def open_script(
    source: bytes, file: str, session: Session, *, folder: Path, say: Callable[[object], None], variables: Mapping[str, str]
) -> HalScript:
    """Translate a script and check its wiring without running it. Raises `NetlistError` with all faults.

    `session` supplies the cells, `folder` the files that the script names, and `variables` the values of `$NAME` and of
    `[SECTION]NAME` (as `SECTION.NAME`). `say` is called with each row of halsampler.
    """
    translation = read_hal(source, file=file, folder=folder, variables=variables)
    _, faults = linked(translation.document)
    if faults:
        raise NetlistError(faults)
    tick = translation.tick or session.tick
    start = Session.over(session.memory, rules=session.rules, day=session.day, tick=tick)
    start = replace(start, pin_names=shown_names(translation.instances, {}))
    bench = HalBench(start, translation.instances, translation.period, folder, say)
    return HalScript(bench, translation)


def _program(bench: HalBench, words: list[str]) -> None:
    """Run halstreamer, halsampler, sleep, or a shell script that feeds here-documents to halstreamer."""
    words = [word for word in words if word not in _PROGRAM_FLAGS]
    name, *rest = words or [""]
    if name in _SHELLS and len(rest) == 1:
        for flags, rows in _heredocs(bench.folder / rest[0], rest[0]):
            _stream(bench, flags, rows)
    elif name == "halstreamer":
        files = [word for index, word in enumerate(rest) if not word.startswith("-") and rest[index - 1 : index] != ["-c"]]
        for file in files:
            _stream(bench, rest, _text(bench.folder / file, file))
    elif name == "halsampler":
        _sample(bench, rest)
    elif name == "sleep" and len(rest) == 1:
        seconds = number(rest[0]) or 0.0
        for _ in range(min(int(seconds / (bench.period or 1.0)), MOST_TICKS) if bench.runs else 0):
            bench.tick()
    else:
        allowed = "halstreamer [-c N] FILE, halsampler [-c N] [-t] -n N, sleep SECONDS, sh FILE with halstreamer << EOF"
        raise UsageError("this program is not supported", given=" ".join(words), allowed=allowed)


def _sample(bench: HalBench, words: list[str]) -> None:
    count, channel = _flag(words, "-n"), _flag(words, "-c") or 0
    if count is None or not bench.runs:
        hint = (
            "add -n ROWS" if count is None else "enter start first, since nothing is sampled while the threads are stopped"
        )
        raise UsageError("halsampler would never finish", given=" ".join(["halsampler", *words]), hint=hint)
    lines: list[str] = []
    for _ in range(MOST_TICKS):
        lines += bench.drain(channel, tagged="-t" in words)
        if len(lines) >= count:
            break
        bench.tick()
    for line in lines[:count]:
        bench.say(line)


def _flag(words: list[str], flag: str) -> int | None:
    for index, word in enumerate(words[:-1]):
        if word == flag and words[index + 1].isdecimal():
            return int(words[index + 1])
    return None


def _heredocs(path: Path, name: str) -> list[tuple[list[str], str]]:
    text = _text(path, name)
    rest = [line for line in _HEREDOC.sub("", text).splitlines() if line.strip() and not line.startswith("#")]
    if rest:
        raise UsageError("a shell script may contain only halstreamer commands with here-documents", given=rest[0])
    return [(match[1].split(), match[3]) for match in _HEREDOC.finditer(text)]


def _text(path: Path, name: str) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", given=name) from error


def _stream(bench: HalBench, flags: list[str], text: str) -> None:
    channel = _flag(flags, "-c") or 0
    pins = len(bench.parts("streamer", channel))
    whole = text[: text.rfind("\n") + 1]  # like halstreamer, ignore a last line without a line break
    rows = [line.split("#")[0].split() for line in whole.splitlines() if line.strip() and not line.startswith("#")]
    wrong = [row for row in rows if len(row) != pins or any(number(word) is None for word in row)]
    if wrong:
        raise DataError("not a row of numbers", given=" ".join(wrong[0]), allowed=f"{pins} numbers, one per pin")
    bench.waiting[channel] += rows


def _sample_text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "1 " if value else "0 "
    return f"{value:d} " if isinstance(value, (int, np.integer)) else f"{value:f} "
