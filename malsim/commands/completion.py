"""Print a completion script for your shell.

malsim completion bash > ~/.local/share/bash-completion/completions/malsim
malsim completion zsh > ~/.zfunc/_malsim             with fpath+=~/.zfunc before compinit in ~/.zshrc
malsim completion fish > ~/.config/fish/completions/malsim.fish
"""

from __future__ import annotations

import argparse
from argparse import _SubParsersAction  # what add_subparsers returns has no public name
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")


HEADING = "run and look"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="whose completion to print")


def main(args: argparse.Namespace) -> int:
    """Print it, made from the declarations of every command."""
    import shtab

    from malsim.parsers import main_parser

    parser = main_parser()
    for action in _arguments(parser):
        if takes_path(action):
            action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell=args.shell))
    return 0


def _arguments(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument of a parser and of its commands."""
    for action in parser._actions:  # noqa: SLF001  # argparse lists them nowhere else
        yield action
        for sub in action.choices.values() if isinstance(action, _SubParsersAction) else ():
            yield from _arguments(sub)


def takes_path(action: argparse.Action) -> bool:
    """Whether an argument is a path, as far as its declaration tells: text that is no number and no choice."""
    return action.nargs != 0 and action.choices is None and action.type in (None, str, Path)
