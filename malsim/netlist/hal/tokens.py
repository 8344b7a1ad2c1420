"""Tokeniser for `.hal` text, which replaces variables, drops arrows and inlines sourced files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.netlist.language.lexicon import LIMITS
from malsim.netlist.language.sentences.lines import comment_at, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from malsim.netlist.hal.state import HalText


_SECTION = re.compile(r"\s*\[([^\]]+)\]")
_SETTING = re.compile(r"\s*([^=#;\s][^=]*?)\s*=\s*(.*?)\s*$")


def ini_variables(text: str) -> dict[str, str]:
    r"""Parse an INI file into a map from `SECTION.NAME` to value.

    If a name is repeated, the first value is used, as in LinuxCNC.

    >>> ini_variables("[JOINT_0]\n# steps per mm\nSCALE = 200\nSCALE = 1\n")
    {'JOINT_0.SCALE': '200'}
    """
    variables: dict[str, str] = {}
    section = ""
    for line in text.removeprefix("\ufeff").splitlines():
        if match := _SECTION.match(line):
            section = match[1].strip()
        elif (match := _SETTING.match(line)) and section and not line.lstrip().startswith(("#", ";")):
            variables.setdefault(f"{section}.{match[1]}", match[2])
    return variables


_TOKEN = re.compile(r'(?:"[^"]*"|[^\s"])+')
_VARIABLE = re.compile(r"\$(?:\((\w+)\)|(\w+))|\[(\w+)\](?:\((\w+)\)|(\w+))")
_ARROWS = {"=>", "<=", "<=>"}

LEAST_SOURCED = 65_536  # minimum number of bytes counted per sourced file, which also limits the number of files

Command = tuple[tuple[str, int], list[str], str]


def commands(
    text: HalText, source: str | bytes, file: str, folder: Path | None, variables: Mapping[str, str], depth: int = 0
) -> list[Command]:
    """Return every command up to `quit` as a tuple ((file, line number), words, comment), with sourced files inlined.

    A line with undefined variables yields one fault and no words, to avoid follow-up faults.
    """
    lines, faults = read_lines(source, file)
    text.faults += faults
    result: list[Command] = []

    for line in lines:
        text.file, text.line = file, line.number
        end = comment_at(line.text)
        unset: list[str] = []
        words = [
            word for word in _TOKEN.findall(substitute(line.text[:end], variables, unset.append)) if word not in _ARROWS
        ]
        if unset:
            hint = "give the machine's INI file with -i FILE" if unset[0].startswith("[") else "set it in the environment"
            problem = "this variable has no value" if len(unset) == 1 else "these variables have no value"
            text.fault(" ".join(unset), problem, hint=hint)
        elif words[:1] in (["quit"], ["exit"]):
            text.ended = True
        elif words[:1] != ["source"]:
            result.append(((file, line.number), words, line.text[end:].rstrip(" \t")))
        elif (content := _content(text, words, folder, depth)) is not None:
            result += commands(text, content, str(Path(file).parent / words[1]), folder, variables, depth + 1)
        if text.ended:
            break
    return result


def substitute(line: str, variables: Mapping[str, str], unknown: Callable[[str], None]) -> str:
    """Replace `$NAME`, `$(NAME)` and `[SECTION]KEY` in a line by their values.

    Call `unknown` with each undefined variable.
    """

    def value(match: re.Match[str]) -> str:
        name, section = match[1] or match[2], match[3]
        name = f"{section}.{match[4] or match[5]}" if section else name
        if name not in variables:
            unknown(match[0])
        return variables.get(name, "")

    return _VARIABLE.sub(value, line)


def _content(text: HalText, words: list[str], folder: Path | None, depth: int) -> bytes | None:
    if len(words) != 2 or folder is None or depth >= LIMITS["depth"]:  # noqa: PLR2004 - source and its file
        text.fault(" ".join(words), "this file cannot be sourced", allowed=f"one file, {LIMITS['depth']} levels deep")
        return None
    path = (folder / words[1]).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        text.fault(words[1], "no such file within this folder")
        return None
    text.source_bytes += max(path.stat().st_size, LEAST_SOURCED)
    if text.source_bytes > LIMITS["file_bytes"]:
        allowed = f"at most {LIMITS['file_bytes']} bytes; small files count as {LEAST_SOURCED}"
        text.fault(words[1], "the sourced files are too large", allowed=allowed)
        return None
    return path.read_bytes()
