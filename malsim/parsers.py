"""Parsers for the command line, built from the modules (commands) and folders (groups) of `malsim.commands`."""

from __future__ import annotations

import argparse
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn, Protocol, cast

HEADINGS = ("look and run", "test", "tune", "memories", "wire", "store", "agents")
"""Headings of `malsim --help`, in order."""


class Command(Protocol):
    """Interface of a command module in `malsim.commands`.

    The first clause of the module's docstring is the command's help text. Heavy imports belong in `main`. A folder is a
    group of commands, described by the package's docstring and `HEADING`.
    """

    __doc__: str | None

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def main(self, args: argparse.Namespace) -> int:
        """Run the command and return the exit code."""


class _MainParser(argparse.ArgumentParser):
    """Main parser, whose help lists the commands under headings."""

    def format_help(self) -> str:
        lines = [f"{self.prog} [--version] COMMAND … or COMMAND --help: {self.description}"]
        by_heading: dict[str, list[str]] = {heading: [] for heading in HEADINGS}
        for name, sub in _subparsers(self).items():
            inner = "|".join(_subparsers(sub))
            by_heading[sub.get_default("heading")].append(f"  {name:<12} {inner or _first_clause(sub.description or '')}")
        for heading, commands in by_heading.items():
            lines += [heading, *commands]
        return "\n".join([*lines, f"{self.epilog}\n"])


def main_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the main parser. If `words` begins with a command's name, the parser contains only that command.

    Hooks start a process at every prompt, and importing one command instead of all saves a seventh of that process's time.
    """
    parser = _MainParser(
        prog="malsim",
        description="a simulator and op workbench for shared memories",
        epilog="Exit codes: 0 done or yes, 1 the answer is no, 2 bad input. `malsim docs`: the manual.",
    )
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version and exit")
    shells = ("bash", "zsh", "fish")
    parser.add_argument("--print-completion", action=_PrintCompletion, choices=shells, help="print a completion script")
    _add_commands(parser, "malsim.commands", words)
    return parser


class _PrintVersion(argparse.Action):
    """Action that prints the version, which is looked up only when needed, since hooks must start fast."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        sys.stdout.write(f"malsim {program_version()}\n")
        parser.exit()


class _PrintCompletion(argparse.Action):
    """Action that prints a shell completion script for all commands."""

    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: object, __: str | None = None) -> NoReturn:
        import shtab

        whole = main_parser()
        for action in _all_actions(whole):
            if takes_path(action):
                action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
        sys.stdout.write(shtab.complete(whole, shell=str(shell)) + "\n")
        parser.exit()


def _all_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    yield from parser._actions  # noqa: SLF001  # argparse has no public list
    for sub in _subparsers(parser).values():
        yield from _all_actions(sub)


def takes_path(action: argparse.Action) -> bool:
    """Return whether an argument may be a path: free text, as opposed to a number or a choice."""
    return action.nargs != 0 and action.choices is None and action.type in (None, str, Path)


def program_version() -> str:
    """Return the installed version of malsim."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("malsim")
    except PackageNotFoundError:  # malsim runs from source without being installed
        return "(not installed)"


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of all commands, keyed by name. A command in a group has a name such as `store write`."""
    parsers = dict[str, argparse.ArgumentParser]()
    for name, sub in _subparsers(main_parser()).items():
        parsers |= {f"{name} {word}": inner for word, inner in _subparsers(sub).items()} or {name: sub}
    return parsers


def _add_commands(parser: argparse.ArgumentParser, package: str, words: Sequence[str]) -> None:
    """Add the commands and groups in a package, or only the command named by the first of `words`."""
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=argparse.ArgumentParser)
    modules = {item.name.rstrip("_"): item for item in pkgutil.iter_modules(import_module(package).__path__)}
    for name in words[:1] if words and words[0] in modules else modules:
        module = import_module(f"{package}.{modules[name].name}")
        text = (module.__doc__ or "").strip()
        raw = argparse.RawDescriptionHelpFormatter
        sub = subparsers.add_parser(name, help=_first_clause(text), description=text, formatter_class=raw)
        sub.set_defaults(heading=getattr(module, "HEADING", None))
        if modules[name].ispkg:
            _add_commands(sub, module.__name__, words[1:])
        else:
            command = cast("Command", module)
            command.arguments(sub)
            sub.set_defaults(command=command)


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = parser._actions  # noqa: SLF001  # argparse has no public list
    subs = [action.choices for action in actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    return {name: sub for choices in subs for name, sub in choices.items()}


def _first_clause(text: str) -> str:
    return re.split("[;:]", text.split("\n", 1)[0])[0].rstrip(".")
