"""Every example in a command's help can be typed: its options are there, and so are the files that it names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from malsim.parsers import command_parsers

ROOT = Path(__file__).parents[1]
SHIPPED = re.compile(r"(?:scenarios|notebooks|tests)/[\w./-]+")


def examples() -> dict[str, str]:
    """Each line of a help that begins with the program's name, without what is said of it."""
    lines = [line for parser in command_parsers().values() for line in (parser.description or "").splitlines()]
    typed = [re.split(r"\s{2,}|\s#|\s>\s", line)[0] for line in lines if line.startswith("malsim ")]
    return {line: line for line in typed}


@pytest.mark.parametrize("line", examples())
def test_an_example_can_be_typed(line: str) -> None:
    _, command, *rest = shlex.split(line)
    parser = command_parsers()[command]
    parser.parse_args(rest)
    for name in SHIPPED.findall(line):
        assert (ROOT / name).exists(), name
