"""See a run on an oscilloscope, or meter one value; channels, a trigger, cursors; captures are saved and opened again.

malsim scope scenarios/mutual_dispute.toml -c obs_a1a1-scores-eff -c obs_d4d4-scores-eff -o scope.png
malsim scope out/mutual_dispute -c obs_a1a1-scores-eff --trigger obs_a1a1-scores-eff --level .1 --record 12 --position .25
malsim scope out/mutual_dispute -c "obs_a1a1-scores-eff gain=2 offset=-.5" --cursor 10 --cursor 11 --save ring.parquet
malsim scope ring.parquet -o scope.png
malsim scope memory.sqlite --meter dec_a3ee-scores-eff        read again whenever another process writes to the store
malsim scope alarm.malnet --meter alarm.out --samples 3       a tick after each reading

In a terminal a meter follows until Ctrl-C; elsewhere it says the value once, or as often as --samples asks.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.files.outputs import drawable
from malsim.base.finite import day
from malsim.commands.hal import opened, session_options

if TYPE_CHECKING:
    from malsim.lab.scope import Capture, Recording

MOST = 4


HEADING = "run and look"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "run",
        metavar="RUN",
        help="a scenario, the folder of a run, or a saved capture (.parquet); to meter, a store, a netlist or a scenario",
    )
    add(
        "-c", "--channel", action="append", default=[], metavar="WORDS",
        help='a signal or an address, with "gain=2 offset=.5 digital=yes label=a" after it; repeat',
    )  # fmt: skip
    add("--trigger", metavar="ADDRESS", help="what the trigger watches")
    add("--level", type=float, default=0.5, help="where it fires (0.5)")
    add("--edge", choices=("rising", "falling"), default="rising", help="which way (rising)")
    add("--position", type=float, default=0.5, help="share of the record before the trigger (0.5)")
    add("--number", type=int, default=1, metavar="N", help="take its Nth firing (1)")
    add("--record", type=int, metavar="TICKS", help="length of the record; default all")
    add("--cursor", type=day, action="append", default=[], metavar="DAY", help="read off here; repeat")
    add("--events", metavar="KIND,KIND", help="kinds to mark; default those of the channels' cells")
    add("--replication", type=int, metavar="K", help="which replication; default the first")
    add("--save", metavar="FILE", help="keep the capture, as .parquet, or its samples alone as .csv")
    add("-o", "--output", metavar="FILE", help="draw it, as .png or .svg; otherwise it is shown in letters")
    add("--meter", metavar="ADDRESS", help="read one value live instead, as LinuxCNC's halmeter does")
    add("--samples", type=int, metavar="N", help="with --meter: stop after so many readings")
    add("--every", type=float, default=0.1, metavar="SECONDS", help="with --meter, in a terminal: between readings (0.1)")
    session_options(parser)


def main(args: argparse.Namespace) -> int:
    """Capture or open, then draw, keep, or show."""
    from malsim.lab.scope import Capture

    if args.meter:
        return _meter(args)
    if args.output:
        drawable(args.output)
    capture = Capture.open(args.run) if Path(args.run).is_file() and args.run.endswith(".parquet") else _capture(args)
    if args.save:
        print(f"kept {capture.save(args.save)}")
    if args.output:
        capture.figure.savefig(args.output)
        print(f"wrote {args.output}")
    if not args.save and not args.output:
        print(capture)
    return 0


def _meter(args: argparse.Namespace) -> int:
    """Read, show, wait, again."""
    import sys
    import time

    from malsim.lab.shell.listing import read
    from malsim.lab.shell.meter import sessions

    live = sys.stdout.isatty()
    left = args.samples if args.samples is not None else None if live else 1
    try:
        for session in sessions(opened(args.run, args)):
            if left is not None and left < 1:
                break
            line = f"day {session.day:g}  {args.meter}  {read(session, args.meter)}"
            print(f"\r{line}\033[K" if live else line, end="" if live else "\n", flush=True)
            left = None if left is None else left - 1
            time.sleep(args.every if live and left != 0 else 0.0)
    except KeyboardInterrupt:  # how one leaves a meter
        pass
    if live:
        print()
    return 0


def _capture(args: argparse.Namespace) -> Capture:
    from malsim.lab.scope import Trigger, capture

    recording, why = _recording(args)
    options: dict[str, Any] = {"record": args.record, "cursors": args.cursor, "title": why}
    if args.trigger:
        options["trigger"] = Trigger(
            on=args.trigger, level=args.level, edge=args.edge, position=args.position, number=args.number
        )
    if args.events is not None:
        options["events"] = [kind for kind in args.events.split(",") if kind]
    return capture(recording, args.channel or _liveliest(recording), **options)


def _recording(args: argparse.Namespace) -> tuple[Recording, str]:
    """The recording of a scenario run now, or of the frames a run left in a folder; and what it is about."""
    from malsim import api
    from malsim.base.errors import DataError
    from malsim.base.files.table_files import read_table
    from malsim.lab.scope import Recording
    from malsim.scenario.rerun import read_manifest

    path = Path(args.run)
    if not path.is_dir():
        scenario = api.read(path)
        run = api.run(scenario)
        return Recording.of(run, args.replication), run.scenario.why
    if not (path / "manifest.json").is_file():
        raise DataError("no run was kept in this folder", where=str(path), hint="malsim run SCENARIO writes one to out/NAME")
    frames = [read_table(path / f"{name}.parquet") for name in ("cells", "signals", "writers", "events")]
    about = read_manifest(path / "manifest.json")
    rep = about.get("first", 0) if args.replication is None else args.replication
    return Recording.of_frames(*frames, rep=rep, pins=_pins(about.get("netlist"))), str(about.get("why", path.name))


def _pins(netlist: dict[str, str] | None) -> dict[str, str]:
    """The signal on each pin of the netlist that a run kept, as far as it can still be read."""
    from malsim.netlist.language.parse import scan
    from malsim.netlist.wiring import linked

    return linked(scan(netlist["text"])[0])[0].pins if netlist else {}


def _liveliest(recording: Recording) -> list[str]:
    """The cells whose effective moves most, where no channel is asked for."""
    import polars as pl

    spans = recording.frames.cells.group_by("cell").agg(pl.col("effective").max() - pl.col("effective").min())
    cells = spans.sort(["effective", "cell"], descending=[True, False])["cell"].head(MOST)
    if cells.is_empty():
        signals = recording.frames.signals
        return (
            [] if signals is None else signals.filter(pl.col("row").is_null())["signal"].unique().sort().head(MOST).to_list()
        )
    return [f"{cell}-scores-eff" for cell in cells]
