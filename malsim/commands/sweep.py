"""Run a scenario with many combinations of settings, in parallel; an interrupted sweep is resumed.

malsim sweep scenarios/poisoner.toml --grid rules.challenge_ceiling=0.2,0.4,0.6 --metric brier --replications 50
malsim sweep scenarios/poisoner.toml --range rules.support_ceiling=0:0.9 --points 64 --replications 4 -o points
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.lab.space.scenario_options import set_arguments, under_law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.space.design import Given
    from malsim.lab.studies.sweep import SweepResult
    from malsim.sim.settings.scenario import Scenario

MOST_LINES = 20
MOST_DRAWN = 2

HEADING = "tune"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    set_arguments(parser)
    add("scenario", metavar="SCENARIO", help="scenario file, such as scenarios/poisoner.toml")
    repeated: dict[str, Any] = {"action": "append", "default": []}
    add("--grid", **repeated, metavar="NAME=V,V,…", help="values of a setting; repeatable, to run all combinations")
    add("--range", **repeated, metavar="NAME=LOW:HIGH", help="range of a setting, for a space-filling design; repeatable")
    add("--points", type=int, default=64, metavar="N", help="number of points in the ranges (64)")
    add("--design", type=Path, metavar="FILE", help="CSV or Parquet file with one row per point")
    default = "default: brier and accuracy; without facts, challenge_density and cells"
    add("--metric", action="append", metavar="METRIC", help=f"what to measure; repeatable ({default})")
    add("--replications", type=int, metavar="N", help="independent replications per point")
    add("--seed", type=int, metavar="N", help="seed of the runs")
    add("-o", "--output", type=Path, metavar="DIR", help="folder for the points (default: out/NAME/sweep)")
    add("--workers", type=int, metavar="N", help="number of processes (default: one per core)")
    add("--cluster", metavar="ADDRESS", help='a Dask scheduler to use instead; needs pip install "malsim[cluster]"')
    add("--no-plots", action="store_true", help="write no figures")
    add("--quiet", action="store_true", help="show no progress bar")


def main(args: argparse.Namespace) -> int:
    from malsim import api

    scenario = under_law(api.read(args.scenario), args)
    changes = {name: getattr(args, name) for name in ("replications", "seed") if getattr(args, name) is not None}
    scenario = scenario.replace(**changes)
    result = _sweep(scenario, _points(args, scenario), args)
    print(f"{scenario.name}: {result.points} points, {result.computed} computed now")
    for row in result.frame.head(MOST_LINES).to_dicts():
        values = {name: row[name] for name in result.names}
        settings = ", ".join(
            f"{name}={f'{value:.6g}' if isinstance(value, float) else value}" for name, value in values.items()
        )
        ends = f" [{row['low']:.4g}, {row['high']:.4g}]" if row["low"] is not None else ""
        horizon, cut = row.get("horizon"), row.get("censored")
        value = f"> {horizon:g} d" if horizon is not None else "no value"
        value = value if row["value"] is None else f"{row['value']:.4g}{ends}"
        spells = "" if cut is None else f", {cut:.0%} of spells censored at {horizon:g} d"
        print(f"  {settings}: {row['metric']} {value}{spells}")
    if scenario.replications == 1:
        print("  a single replication gives no interval; use --replications N for more")
    if result.frame.height > MOST_LINES:
        print(f"  … and {result.frame.height - MOST_LINES} more rows")
    print(f"  {result.folder}/: {', '.join(['points', *_draw(result, args)])}")
    return 0


def _sweep(scenario: Scenario, points: Given, args: argparse.Namespace) -> SweepResult:
    from malsim.lab.studies.sweep import sweep

    settings: dict[str, Any] = {"folder": args.output, "metric": args.metric or None, "progress": not args.quiet}
    if args.cluster is None:
        return sweep(scenario, points, workers=args.workers, **settings)
    from malsim.lab.studies.pool import cluster_of

    with cluster_of(args.cluster) as client:
        return sweep(scenario, points, executor=client, **settings)


def _points(args: argparse.Namespace, scenario: Scenario) -> Given:
    from malsim.base.errors import UsageError
    from malsim.lab.space.design import design

    options = [name for name in ("grid", "range", "design") if getattr(args, name)]
    if len(options) != 1:
        given, hint = (
            " and ".join(f"--{name}" for name in options) or "none",
            "write --grid rules.challenge_ceiling=0.3,0.6",
        )
        raise UsageError("a sweep needs exactly one of --grid, --range, --design", given=given, hint=hint)
    if args.design:
        from malsim.base.files.table_files import read_table

        return read_table(args.design, default=".csv")
    if args.grid:
        return {name: [_value(value) for value in text.split(",")] for name, text in _pairs(args.grid, "--grid")}
    return design(ranges(args.range, "--range"), args.points, scenario=scenario, seed=scenario.seed)


def ranges(texts: list[str], where: str) -> dict[str, list[float | int | str]]:
    """Parse options of the form NAME=LOW:HIGH (a range) or NAME=A,B (choices)."""
    return {
        name: [_value(value) for value in text.split(":" if ":" in text else ",")] for name, text in _pairs(texts, where)
    }


def _pairs(texts: list[str], where: str) -> Iterator[tuple[str, str]]:
    from malsim.base.errors import UsageError

    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise UsageError(
                "not a setting with a range or values", where=where, given=text, allowed="NAME=LOW:HIGH or NAME=V,V,…"
            )
        yield name.strip(), values


def _value(text: str) -> float | int | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip()


def _draw(result: SweepResult, args: argparse.Namespace) -> list[str]:
    varying = [name for name in result.names if result.frame[name].n_unique() > 1]
    if args.no_plots or not 0 < len(varying) <= MOST_DRAWN:
        return []
    names = []
    for number, metric in enumerate(result.metrics, 1):
        names.append(f"{metric}.png" if metric.isidentifier() else f"metric-{number}.png")
        result.plot(metric).savefig(result.folder / names[-1])
    return names
