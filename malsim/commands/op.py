"""List ops, print an op's data sheet, draw its response, or run it over a frame.

malsim op                                                     list of all ops
malsim op pid                                                 data sheet of an op
malsim op pid --step --param Pgain=2 -o pid.png               step response (or ramp, impulse, sine)
malsim op smooth --frequency                                  frequency response of a linear op
malsim op smooth --on out/mutual_dispute/cells.parquet --column effective --by rep,cell -o smoothed.parquet
malsim op reflex --table 0xe                                  truth table
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_table
from malsim.base.files.table_files import read_table

if TYPE_CHECKING:
    from ops import Sheet

OPTIONS = ("x", "by", "t", "tick", "outs")
SIGNALS = ("step", "ramp", "impulse", "sine", "frequency")

HEADING = "wire"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("name", nargs="?", help="name of an op (default: list all)")
    action = parser.add_mutually_exclusive_group()
    for signal in SIGNALS:
        option = f"--{signal}"
        action.add_argument(option, dest="signal", action="store_const", const=signal, help=f"draw the {signal} response")
    action.add_argument("--on", metavar="FILE", help="run the op over a frame: .parquet, .csv or .ndjson")
    action.add_argument(
        "--table", nargs="?", const="", metavar="BITS", help="print the truth table; for reflex, BITS such as 0xe"
    )
    add("--column", metavar="X", help="with --on: column of the first input")
    add("--by", default="", metavar="A,B", help="with --on: columns that identify an instance")
    add("--param", action="append", default=[], metavar="NAME=VALUE", help="parameter, input or size; repeatable")
    add("--tick", metavar="TIME", help="length of a tick, such as 10min (1d; with --on: the spacing of t)")
    add("--calls", type=int, default=100, metavar="N", help="number of calls (100)")
    add("-o", "--output", metavar="FILE", help="file to write: .png, or with --on .parquet or .csv")


def main(args: argparse.Namespace) -> int:
    from malsim.adapters import foreign_code
    from ops import OpError
    from ops.pin import foreign

    foreign.watch = foreign_code
    try:
        return _run(args)
    except OpError as error:
        raise UsageError(
            error.problem, where=error.where, given=error.given, allowed=error.allowed, hint=error.hint
        ) from error


def _run(args: argparse.Namespace) -> int:
    import ops

    if args.name is None:
        return _list()
    if args.on:
        return _over(args)
    settings = _settings(args.param)
    if args.table is not None:
        return _truth_table(args.name, settings, args.table)
    sheet, settings = _with_sizes(ops.load(args.name), settings)
    if args.signal:
        return _draw(sheet, settings, args)
    ops.start(sheet, 1, settings)
    print(sheet)
    return 0


def _list() -> int:
    import ops

    broken = []
    for name, sheet in ops.sheets().items():
        if isinstance(sheet, ops.OpError):
            broken.append(str(sheet))
        else:
            print(f"{name:<14} {sheet.summary}")
    for message in broken:
        print(f"not loaded: {message}")
    return 0


def _settings(words: list[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise UsageError(
                "a parameter needs a value", where="--param", given=word, hint="write NAME=VALUE, such as gain=0.3"
            )
        if name.strip() in OPTIONS:
            raise UsageError(
                "this name is an option, not a parameter",
                where="--param",
                given=word,
                hint=f"write --{name.strip()} {value}",
            )
        settings[name.strip()] = value.strip()
    return settings


def _with_sizes(sheet: Sheet, settings: dict[str, Any]) -> tuple[Sheet, dict[str, Any]]:
    kind = {"type"} - sheet.slots.keys()  # `type` sets the type of `any` pins, unless the op has a pin called `type`
    sizes = {name: value for name, value in settings.items() if name in sheet.sizes or name in kind}
    return sheet.sized(**sizes), {name: value for name, value in settings.items() if name not in sizes}


def _draw(sheet: Sheet, settings: dict[str, Any], args: argparse.Namespace) -> int:
    import ops
    from malsim.showing.plots.wiring.op_response import by_frequency, to_signal

    tick = args.tick or "1d"
    values = ", ".join(f"{name} {value}" for name, value in settings.items())
    title = f"{sheet.name}{f' ({values})' if values else ''}: {args.signal} response, one call every {tick}"
    if args.signal == "frequency":
        response = ops.frequency(sheet, settings, tick=tick)
        if response is None:
            raise UsageError("a nonlinear op has no frequency response", where=sheet.name, hint="try --step")
        figure = by_frequency(response, title=title)
    else:
        answer = ops.respond(sheet, args.signal, settings, tick=tick, calls=args.calls)
        units = {name: slot.pin.unit for name, slot in sheet.slots.items()}
        figure = to_signal(answer, units, input_unit=next(iter(units.values())), title=title)
    path = Path(args.output or f"{sheet.name}-{args.signal}.png")
    figure.savefig(_with_suffix(path, ".png"))
    print(f"wrote {path}")
    return 0


def _over(args: argparse.Namespace) -> int:
    import ops

    if not args.column:
        raise UsageError("--column is missing", hint="add --column NAME, such as --column effective")
    by = [key for key in args.by.split(",") if key]
    frame = read_table(args.on)
    answer = ops.over(frame, args.name, x=args.column, by=by, tick=args.tick, **_settings(args.param))
    if not args.output:
        print(answer)
        return 0
    path = _with_suffix(Path(args.output), ".parquet", ".csv")
    save_table(path, answer)
    print(f"wrote {path}: {answer.height} rows")
    return 0


def _with_suffix(path: Path, *allowed: str) -> Path:
    if path.suffix not in allowed:
        raise UsageError("unsupported file type", given=str(path), allowed=", ".join(allowed))
    return path


def _truth_table(name: str, settings: dict[str, Any], bits: str) -> int:
    import numpy as np

    import ops

    if bits:
        try:
            number = int(bits, 0)
        except ValueError:
            raise UsageError(
                "not a truth table", where="--table", given=bits, allowed="a number such as 0xe or 14"
            ) from None
        inputs_needed = next((n for n in range(1, 5) if number < 2 ** (2**n)), 5)
        settings = {"table": bits, "inputs": inputs_needed, **settings}
    sheet, settings = _with_sizes(ops.load(name), settings)
    inputs = [pin for pin, slot in sheet.slots.items() if slot.key in sheet.ins]
    if sheet.state or any(pin.type != "bit" for pin in (*sheet.ins.values(), *sheet.outs.values())):
        raise UsageError("a truth table needs an op without memory whose pins are all bits", where=name)
    rows = 2 ** len(inputs)
    state = ops.start(sheet, rows, settings)
    columns = {pin: (np.arange(rows) >> n & 1).astype(bool)[np.newaxis] for n, pin in enumerate(inputs)}
    _, answer = ops.run(sheet, state, columns)
    heads = [*inputs, "|", *answer]
    print("  ".join(heads))
    for row in range(rows):
        cells = (
            [str(int(columns[pin][0, row])) for pin in inputs] + ["|"] + [str(int(out[0, row])) for out in answer.values()]
        )
        print("  ".join(cell.center(len(head)) for cell, head in zip(cells, heads, strict=True)))
    return 0
