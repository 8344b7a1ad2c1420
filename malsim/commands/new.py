"""Write a commented scenario that runs, to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("path", type=Path, metavar="FILE", help="the scenario file to write, such as my.toml")


def main(args: argparse.Namespace) -> int:
    """Write it, unless something stands there already."""
    from importlib.resources import files

    from malsim.errors import UsageError

    path: Path = args.path
    if path.suffix != ".toml":
        raise UsageError("a scenario file ends with .toml", given=str(path), hint=f"try {path.with_suffix('.toml')}")
    if not path.parent.is_dir():
        raise UsageError("no such folder", given=str(path.parent), hint="make it first")
    text = files("malsim.scenario.file").joinpath("data", "template.toml").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError("something stands there already", given=str(path), hint="choose another name") from None
    print(f"{path}: run it with `malsim run {path}`, judge it with `malsim test {path}`")
    return 0
