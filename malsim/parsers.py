"""The parsers of the command line, one a command: each module of `malsim.commands` declares its heading and arguments."""

from __future__ import annotations

import argparse
import pkgutil
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, Protocol, cast

from malsim.base.limits import Limits

HEADINGS = ("run and look", "judge", "compare and bring memories", "tune and study", "wire", "store")
"""What commands are for, in the order in which they are used."""


class Command(Protocol):
    """A module of `malsim.commands`: its first clause is its help; every heavy import waits inside `main`."""

    __doc__: str | None
    HEADING: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def main(self, args: argparse.Namespace) -> int:
        """Do it, and return the exit code."""


class _MainParser(argparse.ArgumentParser):
    """The whole command line, whose help lists the commands under headings, a line each."""

    def format_help(self) -> str:
        lines = [f"{self.prog} [--version] COMMAND … or COMMAND --help: {self.description}"]
        by_heading: dict[str, list[str]] = {heading: [] for heading in HEADINGS}
        for name, sub in _subparsers(self).items():
            by_heading[cast("Command", sub.get_default("command")).HEADING].append(f"  {name:<12} {_clause(sub)}")
        for heading, commands in by_heading.items():
            lines += [heading, *commands]
        return "\n".join([*lines, f"{self.epilog}\n"])


def main_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of the whole command line; of one that begins with a command's name, that command's alone.

    A hook is a process of its own at every prompt: reading one module instead of all saves it a seventh of its time.
    """
    parser = _MainParser(
        prog="malsim",
        description="a test bench for memories that many agents share",
        epilog="Exit codes: 0 done or yes, 1 the answer is no, 2 bad input. `malsim docs`: the manual.",
    )
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version and stop")
    _add_commands(parser, words[:1])
    return parser


class _PrintVersion(argparse.Action):
    """Look the version up only where it is asked for: a hook is a process of its own, and pays for what it imports."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        sys.stdout.write(f"malsim {program_version()}\n")
        parser.exit()


def program_version() -> str:
    """The version that is installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("malsim")
    except PackageNotFoundError:  # run from its source, with nothing installed
        return "(not installed)"


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, by the command's name."""
    return _subparsers(main_parser())


def _add_commands(parser: argparse.ArgumentParser, only: Sequence[str]) -> None:
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=argparse.ArgumentParser)
    modules = {each.name.rstrip("_"): each.name for each in pkgutil.iter_modules(import_module("malsim.commands").__path__)}
    for name in only if only and only[0] in modules else modules:
        command = cast("Command", import_module(f"malsim.commands.{modules[name]}"))
        lines = (command.__doc__ or "").strip()
        sub = subparsers.add_parser(
            name,
            help=lines.split("\n", 1)[0],
            description=lines,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.arguments(sub)
        Limits.options(sub.add_argument, help_text=argparse.SUPPRESS)  # who asks for more is told the flag
        sub.set_defaults(command=command)


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands, by name."""
    actions = parser._actions  # noqa: SLF001  # argparse lists them nowhere else
    return {name: sub for action in actions if isinstance(action.choices, dict) for name, sub in action.choices.items()}


def _clause(sub: argparse.ArgumentParser) -> str:
    """What a command does: its first line up to a semicolon or a colon."""
    return re.split("[;:]", (sub.description or "").split("\n", 1)[0])[0].rstrip(".")
