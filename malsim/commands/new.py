"""Write a file from a template and print commands to run next.

malsim new my.toml                                   tune: a world of facts, writers and a reader
malsim new my.toml --template claims                 test: claims in a scenario, with checks
malsim new my.hal --template hal                     teach: a LinuxCNC file for the shell
malsim new my.toml --template tripwire               validate: an alarm on a decision
malsim new checks.toml --template checks             test: checks of a store
malsim new my_memory.py --template memory            test: your own memory
malsim new .github/workflows/memory.yml --template ci
malsim new incident.toml --template incident --from log.jsonl --answer "host=web2"   turn a wrong answer into a failing test
malsim new . --template claude-code                  hooks and server for Claude Code (or codex) in this folder
"""

from __future__ import annotations

import argparse
from pathlib import Path

TEMPLATES = {  # per template: its file, the suffix of the file to write, and commands to run next
    "world": ("world.toml", ".toml", (
        "malsim run {path}", "malsim run {path} --vary rules.challenge_ceiling=0.3,0.6", "malsim docs tune")),
    "claims": ("claims.toml", ".toml", (
        "malsim test {path}", "malsim test {path} --html report.html", "malsim docs check")),
    "hal": ("machine.hal", ".hal", (
        "malsim hal -f {path}", "malsim netlist draw {path} --hal", "malsim docs lessons")),
    "tripwire": ("tripwire.toml", ".toml", (
        "malsim test {path}", "malsim tripwire --scenario {path}", "malsim tripwire --scenario {path} --prove safety")),
    "checks": ("checks.toml", ".toml", (
        "malsim test --on memory.sqlite {path}", "malsim look memory.sqlite", "malsim docs check")),
    "memory": ("memory.txt", ".py", (
        "malsim judge {path.stem}:Latest", "malsim run scenarios/poisoner.toml --memory {path.stem}:Latest",
        "malsim docs your-own-memory")),
    "ci": ("ci.yml", ".yml", ("malsim test scenarios/", "malsim test scenarios/ --junit report.xml", "malsim docs ci")),
}  # fmt: skip
NEEDS = {  # per template: the files that its commands read (a glob pattern), and commands that write an example of them
    "checks": ("memory.sqlite", (
        "malsim examples atlas -o .", "malsim import scenarios/stores/atlas.json -o memory.sqlite")),
    "memory": ("scenarios/poisoner.toml", ("malsim examples poisoner -o .",)),
    "ci": ("scenarios/**/*.toml", ("malsim examples worked_example -o .",)),
}  # fmt: skip
PROGRAMS = {"claude-code": "claude", "codex": "codex"}
INCIDENT = "incident"

HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="FILE", help="file to write, such as my.toml, or an agent's folder")
    choices = [*TEMPLATES, INCIDENT, *PROGRAMS]
    parser.add_argument("--template", choices=choices, default="world", help="template (world)")
    parser.add_argument("--store", default="memory.sqlite", metavar="STORE", help="store of an agent (memory.sqlite)")
    parser.add_argument("--writer", default="agent", metavar="NAME", help="name of the writer of the agent's claims (agent)")
    parser.add_argument("--dry-run", action="store_true", help="for an agent: only print the files and the first push")
    add = parser.add_argument_group("incident").add_argument
    add("--from", dest="source", type=Path, metavar="LOG", help="recorded log, claims, store, or another memory")
    add("--answer", metavar="OBJECT=VALUE", help="wrong answer")
    add("--cell", metavar="HANDLE", help="or a cell that was wrongly raised, lowered or superseded")
    add("--at", type=float, metavar="DAY", help="use only claims up to this day (default: all)")
    add("--law", metavar="NAME", help="law that gave the answer (default: the first law that gives it)")
    add("--memory", metavar="MODULE:FACTORY", help="or your own memory that gave the answer; its code is run")
    add("--confidence", type=float, metavar="P", help="confidence of claims that state none")
    add("--anonymise", action="store_true", help="replace names and texts with numbered placeholders")


def main(args: argparse.Namespace) -> int:
    from importlib.resources import files

    from malsim.base.errors import UsageError
    from malsim.parsers import program_version

    if args.template in PROGRAMS:
        return _for_agent(args)
    if args.template == INCIDENT:
        return _of_incident(args)
    path: Path = args.path
    name, ending, commands = TEMPLATES[args.template]
    if path.suffix != ending:
        problem, hint = f"the template {args.template} needs a file ending in {ending}", f"try {path.with_suffix(ending)}"
        raise UsageError(problem, given=str(path), hint=hint)
    if args.template == "ci":
        path.parent.mkdir(parents=True, exist_ok=True)
    if not path.parent.is_dir():
        raise UsageError("no such folder", given=str(path.parent), hint="create the folder first")
    text = files("malsim.scenario.file").joinpath("data", "templates", name).read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace("FILE_STEM", path.stem).replace("MALSIM_VERSION", program_version()))
    except FileExistsError:
        raise UsageError("the file already exists", given=str(path), hint="choose another name") from None
    steps = list[str](commands)
    if (needs := NEEDS.get(args.template)) and not any(Path().glob(needs[0])):
        steps[:0] = needs[1]
    print("\n  ".join([f"{path}: written. Next:", *(step.format(path=path) for step in steps)]))
    return 0


def _of_incident(args: argparse.Namespace) -> int:
    """Write the smallest scenario that reproduces the incident, and a pytest file next to it."""
    from malsim.adapters.engine.adapter import Adapter
    from malsim.base.errors import UsageError
    from malsim.lab.incident import find, pytest_text, read_log, require_failure, scenario_text

    path: Path = args.path
    test = path.with_name(f"test_{path.stem}.py")
    if path.suffix != ".toml" or args.source is None or (args.answer is None) == (args.cell is None):
        given, hint = str(path), 'run malsim new incident.toml --template incident --from log.jsonl --answer "OBJECT=VALUE"'
        raise UsageError("an incident needs FILE.toml, --from LOG, and either --answer or --cell", given=given, hint=hint)
    if present := [str(file) for file in (path, test) if file.exists()]:
        raise UsageError("the file already exists", given=present[0], hint="choose another name")
    log = read_log(args.source, at=args.at, confidence=args.confidence)
    memory = Adapter.of(args.memory) if args.memory else None
    incident = find(log, cell=args.cell, answer=args.answer, law=args.law, memory=memory)
    text = scenario_text(incident, source=args.source.name, anonymise=args.anonymise)
    require_failure(text, memory)
    path.write_text(text, encoding="utf-8")
    test.write_text(pytest_text(path.name), encoding="utf-8")
    options = " --allow-code" if memory else ""
    claims = f"{len(incident.rows)} of {log.claims.height} claims decide the answer, found in {incident.replays} replays"
    print(f"{path}: {claims}; it fails now: `malsim test {path}{options}`, or pytest")
    print(test)
    return 0


def _for_agent(args: argparse.Namespace) -> int:
    """Write an agent's settings files. With `--dry-run`, print them and the text with which a session would begin."""
    from malsim.agents.configuration import configuration
    from malsim.base.errors import UsageError

    folder: Path = args.path
    if not folder.is_dir():
        raise UsageError("no such folder", given=str(folder), hint=f"run malsim new . --template {args.template}")
    files = configuration(args.template, folder, args.store, args.writer)
    if args.dry_run:
        print("\n".join(f"{path}:\n{text}" for path, text in files.items()))
        _print_orientation(folder / args.store)
        return 0
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    print(f"start {PROGRAMS[args.template]} in {folder}; it asks whether to trust the server and the hooks")
    return 0


def _print_orientation(store: Path) -> None:
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
