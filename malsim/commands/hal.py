"""Open a shell, like LinuxCNC's halcmd, on a live graph: a store, a netlist or the final memory of a run.

malsim hal memory.sqlite                       memory of a store; only `save` writes to it
malsim hal alarm.malnet                        graph and wiring of a netlist
malsim hal scenarios/mutual_dispute.toml       final memory of a run, under its rules
malsim hal alarm.malnet -f drill.hal -k        run a script to its end; exit 1 if a line failed
malsim hal alarm.malnet -c "step 3" -c "getp alarm.out"

In the shell, `help` lists the commands and Tab completes.
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
    add("target", nargs="?", metavar="TARGET", help="store, netlist or scenario (default: an empty memory)")
    add("--tick", metavar="TIME", help="time between two ticks (1d; runs and .hal files define their own)")
    add("--rules", metavar="FILE", help="tick under these rules: a TOML file, default or recall_v5")
    add("-f", "--file", metavar="SCRIPT", help="run the commands in a file, up to the first that fails")
    add("-k", "--keep-going", action="store_true", help="with -f: continue after a failed line")
    add("-i", "--ini", metavar="FILE", help="INI file of the machine, for [SECTION]NAME")
    add("-c", dest="lines", action="append", default=[], metavar="LINE", help="run this command; repeatable")


def main(args: argparse.Namespace) -> int:
    import sys

    from malsim.adapters.foreign_code import before_loading
    from malsim.base.files.text_files import read_text
    from malsim.lab.shell import Console
    from malsim.netlist.hal.tokens import ini_variables
    from ops.pin.palette import others

    for op in others():  # if a sandbox is needed, enter it before the first line runs
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
    return prompt(console)


def prompt(console: Console) -> int:
    """Read commands until one of them leaves the shell. Ctrl-C abandons only the current line or its remaining ticks."""
    while True:
        try:
            console.cmdloop()
        except KeyboardInterrupt:
            print("^C; enter quit to leave")
            console.intro = ""
        else:
            return 0


def opened(target: str | None, args: argparse.Namespace) -> SessionFile:
    """Return a session on a store, a netlist, the end of a run or, without a target, an empty memory."""
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
