"""Write something commented that runs, to start from: a scenario, a memory of your own, a workflow for CI.

malsim new my.toml                                   a world: facts, writers, a reader
malsim new my.toml --template claims                 claims written by hand
malsim new my.toml --template tripwire               an alarm on a decision
malsim new checks.toml --template checks              checks of a store: malsim test --on, malsim watch
malsim new my_memory.py --template memory            a memory of your own
malsim new .github/workflows/memory.yml --template ci
"""

from __future__ import annotations

import argparse
from pathlib import Path

JUDGE = "run it with `malsim run {path}`, judge it with `malsim test {path}`"
TEMPLATES = {  # the file of each, the ending of what is written, and what to do next
    "world": ("world.toml", ".toml", JUDGE),
    "claims": ("claims.toml", ".toml", JUDGE),
    "tripwire": ("tripwire.toml", ".toml", JUDGE + ", measure its alarm with `malsim tripwire --scenario {path}`"),
    "checks": ("checks.toml", ".toml", "hold a store to it: `malsim test --on memory.sqlite {path}`, or `malsim watch`"),
    "memory": ("memory.txt", ".py", "try it from its folder: `malsim axioms {path.stem}:Latest`"),
    "ci": ("ci.yml", ".yml", "it judges scenarios/ on every push; `malsim docs ci` has GitLab's"),
}


HEADING = "run and look"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="FILE", help="the file to write, such as my.toml")
    parser.add_argument("--template", choices=list(TEMPLATES), default="world", help="what to start from; default world")


def main(args: argparse.Namespace) -> int:
    """Write it, unless something stands there already."""
    from importlib.resources import files

    from malsim.base.errors import UsageError

    path: Path = args.path
    name, ending, then = TEMPLATES[args.template]
    if path.suffix != ending:
        what = "a scenario file" if ending == ".toml" else f"a file of the template {args.template}"
        raise UsageError(f"{what} ends with {ending}", given=str(path), hint=f"try {path.with_suffix(ending)}")
    if args.template == "ci":
        path.parent.mkdir(parents=True, exist_ok=True)
    if not path.parent.is_dir():
        raise UsageError("no such folder", given=str(path.parent), hint="make it first")
    text = files("malsim.scenario.file").joinpath("data", "templates", name).read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace("FILE_STEM", path.stem))
    except FileExistsError:
        raise UsageError("something stands there already", given=str(path), hint="choose another name") from None
    print(f"{path}: {then.format(path=path)}")
    return 0
