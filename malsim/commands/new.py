"""Write a commented file that runs, to start from: a scenario, a memory of your own, a workflow for CI.

malsim new my.toml                                   a world: facts, writers, a reader
malsim new my.toml --template claims                 claims written by hand
malsim new my.toml --template tripwire               an alarm on a decision
malsim new checks.toml --template checks              checks of a store: malsim test --on
malsim new my_memory.py --template memory            a memory of your own
malsim new .github/workflows/memory.yml --template ci
malsim new . --template claude-code                  hooks and server for the agent at work in this folder; or codex
"""

from __future__ import annotations

import argparse
from pathlib import Path

JUDGE = "run it with `malsim run {path}`, judge it with `malsim test {path}`"
ALARM = ", measure its alarm with `malsim tripwire --scenario {path}`, prove it with `--prove safety` added"
TEMPLATES = {  # the file of each, the ending of what is written, and what to do next
    "world": ("world.toml", ".toml", JUDGE),
    "claims": ("claims.toml", ".toml", JUDGE),
    "tripwire": ("tripwire.toml", ".toml", JUDGE + ALARM),
    "checks": ("checks.toml", ".toml", "hold a store to it: `malsim test --on memory.sqlite {path}`"),
    "memory": ("memory.txt", ".py", "try it from its folder: `malsim axioms {path.stem}:Latest`"),
    "ci": ("ci.yml", ".yml", "on every push it judges scenarios/: put a file there; `malsim docs ci` has GitLab's"),
}
PROGRAMS = {"claude-code": "claude", "codex": "codex"}


HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="FILE", help="the file to write, such as my.toml, or an agent's folder")
    choices = [*TEMPLATES, *PROGRAMS]
    parser.add_argument("--template", choices=choices, default="world", help="what to start from; default world")
    parser.add_argument("--store", default="memory.sqlite", metavar="STORE", help="an agent's memory (memory.sqlite)")
    parser.add_argument("--writer", default="agent", metavar="NAME", help="in whose name the agent claims (agent)")
    parser.add_argument("--dry-run", action="store_true", help="for an agent: show what would be written and injected")


def main(args: argparse.Namespace) -> int:
    """Write it, unless something stands there already; an agent's settings are added to."""
    from importlib.resources import files

    from malsim.base.errors import UsageError

    if args.template not in TEMPLATES:
        return _for_agent(args)
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


def _for_agent(args: argparse.Namespace) -> int:
    """Write, or show, the settings of an agent's program, and what its next session would begin with."""
    from malsim.agents.configuration import configuration
    from malsim.base.errors import UsageError

    folder: Path = args.path
    if not folder.is_dir():
        raise UsageError("no such folder", given=str(folder), hint=f"malsim new . --template {args.template}")
    files = configuration(args.template, folder, args.store, args.writer)
    if args.dry_run:
        print("\n".join(f"{path}:\n{text}" for path, text in files.items()))
        _print_orientation(folder / args.store)
        return 0
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    print(f"start {PROGRAMS[args.template]} in {folder}; it will ask whether to trust the server and the hooks")
    return 0


def _print_orientation(store: Path) -> None:
    """What the session-start hook would inject, tried on a copy of the store."""
    from tempfile import TemporaryDirectory

    from malsim.agents.service import MemoryService
    from malsim.memory.store import open_memory, save_memory

    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.sqlite"
        if store.is_file():
            save_memory(open_memory(store), copy)
        service = MemoryService(copy)
        print(f"a session begins with:\n{service.orient()}")
        service.close()
