"""The command line: it reads arguments, calls a command, and turns what it raises into an exit code."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Protocol, cast

from malsim import commands
from malsim.errors import MalsimError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

APPARATUS_FAILED = 2


class Command(Protocol):
    """A module of `malsim.commands`: its first line is its help; every heavy import waits inside `main`."""

    __doc__: str | None

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def main(self, args: argparse.Namespace) -> int:
        """Do it, and return the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0 done, 1 the answer is no, 2 the apparatus failed (a bad file, a bad argument)."""
    args = _parser().parse_args(argv)
    try:
        return cast("Command", args.command).main(args)
    except MalsimError as error:
        print(f"malsim: {error}", file=sys.stderr)
    except FileNotFoundError as error:
        print(f"malsim: {error.filename}: no such file; check the path", file=sys.stderr)
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        sys.stderr.close()
        return 0
    return APPARATUS_FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="malsim", description="A test bench for agent memories that many writers share.")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for found in pkgutil.iter_modules(commands.__path__):
        command = cast("Command", importlib.import_module(f"{commands.__name__}.{found.name}"))
        lines = (command.__doc__ or "").strip()
        name = found.name.rstrip("_")
        sub = subparsers.add_parser(
            name, help=lines.split("\n", 1)[0], description=lines, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        command.arguments(sub)
        sub.set_defaults(command=command)
    return parser
