"""Printed output in README and manual: each `text output` block shows the output of the commands in the block above.

`python -m tests.docs.printed` runs the commands and refreshes all blocks. Times are replaced by "…".
"""

from __future__ import annotations

import io
import re
import shlex
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from malsim.cli import main as malsim
from malsim.examples import copy

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "malsim/showing/manual").glob("*/*.md"))]
PRINTED = re.compile(
    r"^```sh\n(?P<commands>(?:(?!```).*\n)+)```\n\n```text output\n(?P<output>(?:(?!```).*\n)*)```$", re.MULTILINE
)
FILES = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
TIME = re.compile(r"\b\d+\.\d+ s\b")
CPU = re.compile(r" +(cpu_ms_per_tick|\d+\.\d{3})$")  # last column of `compare`, which varies per run


def refreshed(text: str) -> str:
    """Return a page's text with all printed blocks regenerated."""
    with TemporaryDirectory() as folder, chdir(folder):
        copy([], Path())
        for name, content in FILES.findall(text):
            Path(name).write_text(content, encoding="utf-8")
        return PRINTED.sub(_block, text)


def _block(block: re.Match[str]) -> str:
    start, end = (block.start("output") - block.start(), block.end("output") - block.start())
    return block[0][:start] + output(block["commands"]) + block[0][end:]


def output(commands: str) -> str:
    """Return the output of the `malsim` commands in a block. Other programs are skipped."""
    printed = io.StringIO()
    for line in commands.replace("\\\n", " ").splitlines():
        for command in line.split(" && "):
            words = [path for word in shlex.split(command, comments=True) for path in _expanded(word)]
            if words[:1] == ["malsim"]:
                with redirect_stdout(printed), redirect_stderr(io.StringIO()):
                    malsim(words[1:])
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    timed = any(line.endswith("cpu_ms_per_tick") for line in lines)
    return TIME.sub("… s", "".join(f"{CPU.sub('', line) if timed else line}\n" for line in lines))


def _expanded(word: str) -> list[str]:
    """Expand braces in a word as a shell would.

    >>> _expanded("a/{b,c}.toml")
    ['a/b.toml', 'a/c.toml']
    """
    start, brace, rest = word.partition("{")
    middle, _, end = rest.partition("}")
    return [f"{start}{part}{end}" for part in middle.split(",")] if brace else [word]


def main() -> None:
    """Regenerate the printed blocks of all pages."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        if (new := refreshed(text)) != text:
            path.write_text(new, encoding="utf-8")
            sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
