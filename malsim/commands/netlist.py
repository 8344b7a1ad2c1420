"""Check, format, lint, compare, draw, load, run or prove a netlist; or explain one of its signals.

malsim netlist check alarm.malnet                              all faults with their lines; also for .hal files
malsim netlist fmt --write alarm.malnet                        format in place
malsim netlist lint alarm.malnet                               late reads, feedback loops, unread signals
malsim netlist diff old.malnet new.malnet                      changes in meaning
malsim netlist draw alarm.malnet -o alarm.svg --hal            diagram with LinuxCNC's names
malsim netlist draw alarm.malnet -o alarm.mmd                  Mermaid flowchart
malsim netlist draw scenarios/tripwire.toml out/tripwire --around alarm.out --depth 1      with values from a run
malsim netlist load graph.malnet -o memory.sqlite              load cells and edges into a store
malsim netlist render memory.sqlite                            graph of a store as a netlist
malsim netlist run alarm.malnet --on stream.csv --expect trips.csv
malsim netlist prove "always (tripped implies once bad)" alarm.malnet      for all inputs
malsim netlist why alarm.out out/tripwire --at 41              cause in a recorded run
malsim netlist value 'mean(dec_a3ee.~supports.*-scores-eff)' out/tripwire --at 41      value of an address
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.files.outputs import save_table, save_text
from malsim.base.files.table_files import read_table
from malsim.base.finite import day
from malsim.scenario.judge.proof_options import proof_arguments, prove_each, prove_same

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from malsim.memory import Memory
    from malsim.netlist import Document
    from malsim.netlist.evaluate import Frames
    from malsim.netlist.wiring import Net

HEADING = "wire"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("action", choices=sorted(_ACTIONS), help="action")
    first = "netlists; why, value and prove expect a signal, an address or a property first"
    add("files", nargs="+", metavar="FILE", help=first)
    add("--write", action="store_true", help="fmt: rewrite the files instead of printing")
    output = "draw: .svg, .png, .mmd; load: .sqlite; run: .csv, .parquet; prove: .toml, .svg, .png"
    add("-o", "--output", metavar="FILE", help=output)
    add("--hal", action="store_true", help="draw: also show LinuxCNC's names")
    add("--around", metavar="PIN", help="draw: only the part around a pin, instance or signal")
    add("--depth", type=int, default=1, metavar="N", help="draw: with --around, distance in wires (1)")
    add("--bootstrap", action="store_true", help="load: add those of the ten cells that are missing")
    add("--into", metavar="STORE", help="store to load the netlist into, or to read from")
    add(
        "--on",
        metavar="STREAM",
        help="run, why: table with one row per tick and one column per signal (.csv, .parquet, .ndjson)",
    )
    add("--expect", metavar="FILE", help="run: expected columns; exit 1 if they differ")
    add("--tick", metavar="TIME", help="run, why: time between two rows (1d; .hal files define their own)")
    add("--rep", type=int, metavar="K", help="why, value: replication of a recorded run (default: the first)")
    add("--scope", metavar="NAME", help="scope of a store (default: the common scope)")
    add("--at", type=day, metavar="DAY", help="why, value: day (default: the last)")
    proof_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Run the action. Return 1 if it finds faults or differences."""
    return _ACTIONS[args.action](args)


def _document(path: str) -> Document:
    from malsim.lab.shell.files import document

    return document(path)[0]


def _memory(args: argparse.Namespace) -> Memory | None:
    return _stored(args.into, args.scope) if args.into else None


def _stored(path: str, scope: str | None, at: float | None = None) -> Memory:
    from malsim.memory.store import Store

    with Store(path, write=False) as store:
        return store.within(store.memory if at is None else store.at(at), scope)


def _check(args: argparse.Namespace) -> int:
    """Check each file. If a store is given, each cell named must exist in the store or in the file."""
    from malsim.lab.shell.files import readable
    from malsim.netlist.load import check

    memory, failed = _memory(args), False
    for path in args.files:
        document, syntax_faults = readable(path)
        result = check(document, memory)
        faults = [*syntax_faults, *result.faults]
        faults.sort(key=lambda fault: (fault.file != path, fault.file, fault.line, fault.column))
        failed = failed or bool(faults)
        for line in [*faults, *result.notes]:
            print(line)
        if result.needed:
            print(f"{path}: needs {' '.join(result.needed)}")
        if not faults:
            net = result.net
            print(f"{path}: {len(net.instances)} ops, {len(net.signals)} signals, {len(net.programs)} programs")
    return int(failed)


def _fmt(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError
    from malsim.netlist import fmt, render

    for path in args.files:
        text = render(_document(path)) if path.endswith(".hal") else fmt(Path(path).read_bytes(), file=path)
        if args.write:
            if path.endswith(".hal"):
                raise UsageError("a .hal file cannot be rewritten", given=path, hint="save the output as a .malnet file")
            save_text(path, text)
        else:
            print(text, end="")
    return 0


def _lint(args: argparse.Namespace) -> int:
    from malsim.netlist.lint import lint

    notes = [note for path in args.files for note in lint(_document(path))]
    print(*notes, sep="\n", end="\n" if notes else "")
    return 1 if notes else 0


def _diff(args: argparse.Namespace) -> int:
    from malsim.netlist.language.facts import diff
    from malsim.netlist.wiring import link

    before, after = map(_document, _exactly(args, 2, "the netlist before and the netlist after"))
    if args.prove:
        return prove_same(link(before), link(after), args)
    changes = diff(before, after)
    print(*changes, sep="\n", end="\n" if changes else "")
    return 1 if changes else 0


def _draw(args: argparse.Namespace) -> int:
    from malsim.lab.shell.drawing import draw_net, values_of
    from malsim.memory.tables.connect import is_store

    path, *runs = args.files
    output = Path(args.output or Path(path).with_suffix(".svg").name)
    sources = runs or ([path] if is_store(Path(path)) else [])
    values = values_of(sources[0], args.rep, args.at) if sources else None
    scope = {"pin": args.around, "depth": args.depth, "values": values, "title": Path(path).name}
    laid = draw_net(_document(path), output, hal=args.hal, **scope)
    print(f"{laid.boxes.height} boxes, {laid.wires.height} wires: {output}")
    return 0


def _load(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError
    from malsim.memory import Memory, Rules
    from malsim.memory.store import Store
    from malsim.memory.tables.stored_wires import Standing
    from malsim.netlist.shipped.store_wires import changes, load_all

    if not args.output:
        raise UsageError("-o is missing", hint="add -o memory.sqlite")
    documents, loaded = [_document(path) for path in args.files], None
    if args.into:
        with Store(args.into, write=False) as other:
            loaded = load_all(other.within(other.memory, args.scope), other.standing, documents, Rules())
    elif not Path(args.output).exists():
        loaded = load_all(Memory.empty(), Standing(), documents, Rules())  # fail before the store is created
    with Store(args.output) as store:
        before = store.standing.text
        memory = store.wire(lambda memory, standing: loaded or load_all(memory, standing, documents, Rules()))
        if args.bootstrap and store.bootstrap(store.day or 0.0, missing=True):
            memory = store.memory
        lines, news = len(store.standing.text.splitlines()), changes(before, store.standing.text) if before else []
    wiring = f", {lines} lines of wiring" if lines else ""
    print(f"{memory.cells.height} cells, {memory.edges.height} edges{wiring}: {args.output}", *news, sep="\n  ")
    return 0


def _render(args: argparse.Namespace) -> int:
    from malsim.memory.store import Store
    from malsim.netlist import load, render

    for path in args.files:
        if path.endswith((".malnet", ".hal")):
            print(render(load(_document(path), _memory(args)).memory), end="")
            continue
        with Store(path, write=False) as store:
            print(render(store.within(store.memory, args.scope)), store.standing.text, sep="", end="")
    return 0


def _run(args: argparse.Namespace) -> int:
    from malsim.netlist.engine.stream import difference

    (path,) = _exactly(args, 1, "one netlist")
    signals = _run_stream(args, path)[1]
    if args.output:
        is_table = args.output.endswith((".csv", ".parquet"))
        save_table(args.output, signals) if is_table else save_text(args.output, signals.write_csv())
    if not args.expect:
        print(signals if args.output is None else f"{signals.height} ticks: {args.output}")
        return 0
    differences = difference(signals, read_table(args.expect))
    if differences.height:
        print(differences)
    print(f"{signals.height} ticks, {differences['row'].n_unique()} of them not as expected")
    return 1 if differences.height else 0


def _why(args: argparse.Namespace) -> int:
    from malsim.netlist.why import why

    signal, path = _exactly(args, 2, "a signal, and a netlist or the folder of a run")
    if _is_run(path):
        from malsim.scenario.rerun import one_replication
        from malsim.sim.why.signal_cause import because

        print(*because(one_replication(path, args.rep), signal, t=args.at), sep="\n  because ")
        return 0
    net, signals = _run_stream(args, path)
    recorded = signals.unpivot(index="t", variable_name="signal", value_name="value").with_columns(rep=0)
    print(*why(signal, net, recorded, at=args.at), sep="\n  because ")
    return 0


def _value(args: argparse.Namespace) -> int:
    import polars as pl

    from malsim.netlist import evaluate, load
    from malsim.scenario.rerun import one_replication

    address, path = _exactly(args, 2, "an address, and a netlist, a store or the folder of a run")
    if _is_run(path):
        values = one_replication(path, args.rep).evaluate(address, args.at)
    else:
        is_netlist = path.endswith((".malnet", ".hal"))
        values = evaluate(address, load(_document(path), _memory(args)).memory if is_netlist else _frames(path, args))
        values = values if is_netlist else values.with_columns(t=pl.lit(args.at, pl.Float64))
    print(values.write_csv(), end="")
    return 0


def _prove(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError
    from malsim.netlist.load import check, load

    text, path = _exactly(args, 2, "a property and a netlist")
    document = _document(path)
    if not args.into and (needed := check(document).needed):
        hint = f'name a store with --into, or declare each cell: {needed[0]} "its title" conf(.7!)'
        raise UsageError("the netlist needs cells that it does not declare", given=" ".join(needed), hint=hint)
    return prove_each(load(document, _memory(args)).net, document, [text, *args.prove], args)


def _frames(path: str, args: argparse.Namespace) -> Frames:
    from malsim.memory.store import Store
    from malsim.netlist.evaluate import Frames
    from malsim.netlist.shipped.store_wires import frames_of

    memory = _stored(path, args.scope, args.at)
    with Store(path, write=False) as store:
        return frames_of(memory, store.standing) if args.at is None and not store.scopes else Frames.of(memory)


def _is_run(path: str) -> bool:
    return Path(path).is_dir() or path.endswith(".json")


def _run_stream(args: argparse.Namespace, path: str) -> tuple[Net, pl.DataFrame]:
    from malsim.lab.shell.files import run_stream

    return run_stream(path, args.on, args.tick, _memory(args))


def _exactly(args: argparse.Namespace, count: int, arguments: str) -> list[str]:
    from malsim.base.errors import UsageError

    if len(args.files) != count:
        raise UsageError(f"netlist {args.action} needs {arguments}", given=" ".join(args.files), hint="see --help")
    return list(args.files)


_ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "check": _check, "fmt": _fmt, "lint": _lint, "diff": _diff, "draw": _draw, "load": _load, "render": _render, "run": _run,
    "why": _why, "value": _value, "prove": _prove,
}  # fmt: skip
