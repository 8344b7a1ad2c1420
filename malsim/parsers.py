"""The parsers of the command line, one a command: each module of `malsim.commands` declares its own arguments."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol, cast

from malsim.base.limits import Limits

__all__ = ["Command", "command_parsers", "main_parser"]


class Command(Protocol):
    """A module of `malsim.commands`: its first line is its help; every heavy import waits inside `main`."""

    __doc__: str | None

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def main(self, args: argparse.Namespace) -> int:
        """Do it, and return the exit code."""


def main_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="malsim",
        description="A test bench for agent memories that many writers share.",
        epilog="Exit codes: 0 done or yes, 1 the answer is no, 2 bad input. `malsim docs` lists the manual's pages.",
    )
    parser.add_argument("--version", action="version", version=f"malsim {_version()}")
    _add_commands(parser)
    return parser


def _version() -> str:
    try:
        return version("malsim")
    except PackageNotFoundError:  # run from its source, with nothing installed
        return "(not installed)"


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, by the command's name."""
    return _add_commands(argparse.ArgumentParser(prog="malsim"))


def _add_commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    parsers: dict[str, argparse.ArgumentParser] = {}
    for module in pkgutil.iter_modules(importlib.import_module("malsim.commands").__path__):
        command = cast("Command", importlib.import_module(f"malsim.commands.{module.name}"))
        lines = (command.__doc__ or "").strip()
        name = module.name.rstrip("_")
        sub = subparsers.add_parser(
            name, help=lines.split("\n", 1)[0], description=lines, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        command.arguments(sub)
        Limits.options(sub.add_argument_group("limits", "more is refused unless allowed here").add_argument)
        sub.set_defaults(command=command)
        parsers[name] = sub
    return parsers
