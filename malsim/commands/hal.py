"""A shell over a live graph, after LinuxCNC's halcmd: on a store, a netlist or the end of a run.

malsim hal memory.sqlite                       a store's memory; nothing is written to it until you say save
malsim hal alarm.malnet                        a netlist's graph and wiring
malsim hal scenarios/mutual_dispute.toml       the memory a run ended with, under its rules
malsim hal alarm.malnet -f drill.hal -k        a script, to its end whatever fails; exit 1 if a line failed
malsim hal alarm.malnet -c "step 3" -c "getp alarm.out"

In the shell: help, and the Tab key.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.lab.shell import Console
    from malsim.lab.shell.files import SessionFile


HEADING = "wire"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", nargs="?", metavar="TARGET", help="a store, a netlist, or a scenario; empty if not given")
    session_options(parser)
    add("-f", "--file", metavar="SCRIPT", help="run the commands of a file, and stop at the first that fails")
    add("-k", "--keep-going", action="store_true", help="with -f: go on after a line that failed")
    add("-i", "--ini", metavar="FILE", help="the machine's INI file, for [SECTION]NAME")
    add("-c", dest="lines", action="append", default=[], metavar="LINE", help="run this command; repeat")


def session_options(parser: argparse.ArgumentParser) -> None:
    """Declare how a session is opened."""
    parser.add_argument("--tick", metavar="TIME", help="the time between two ticks (1d; a run and .hal text keep their own)")
    parser.add_argument("--rules", metavar="FILE", help="tick under these rules: a TOML file, default or recall_v5")


def main(args: argparse.Namespace) -> int:
    import sys

    from malsim.adapters.foreign_code import before_loading
    from malsim.base.files.text_files import read_text
    from malsim.lab.shell import Console
    from malsim.netlist.hal.tokens import ini_variables
    from ops.pin.palette import others

    for op in others():  # a line may load one at any time; later, the lines before it would be gone
        before_loading(op)
    console = Console(opened(args.target, args))
    if args.ini:
        console.variables = ini_variables(read_text(args.ini))
    if args.file:
        return console.script(Path(args.file).read_bytes(), args.file, keep_going=args.keep_going)
    if args.lines:
        return console.script("\n".join(args.lines), "-c", keep_going=args.keep_going)
    if not sys.stdin.isatty():
        return console.script(sys.stdin.read(), "stdin", keep_going=args.keep_going)
    return _prompt(console)


def _prompt(console: Console) -> int:
    """Ask for commands until one says quit; Ctrl-C gives up a line, or the ticks it asked for, and nothing else."""
    while True:
        try:
            console.cmdloop()
        except KeyboardInterrupt:
            print("^C; quit leaves")
            console.intro = ""
        else:
            return 0


def opened(target: str | None, args: argparse.Namespace) -> SessionFile:
    """Return the session on the target of the command line."""
    from malsim.base.errors import UsageError
    from malsim.lab.shell.files import of_run, open_session
    from malsim.memory import Rules
    from ops import OpError
    from ops.pin.units import number

    rules = Rules.read(args.rules) if args.rules else None
    if target is not None and target.endswith(".toml"):
        from malsim import api

        scenario = api.read(target).replace(replications=1, first=0)
        scenario = scenario if rules is None else scenario.replace(rules=rules)
        return of_run(api.run(scenario))
    try:
        tick = None if args.tick is None else number(args.tick, unit="ms", where="--tick")
    except OpError as problem:
        raise UsageError(str(problem)) from None
    return open_session(target, rules=rules, tick=tick)
