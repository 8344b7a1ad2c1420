"""Replay a file of claims, or any memory, under a law; with truth, score its answers beside simpler laws.

malsim replay claims.csv.gz --truth truth.csv.gz --contradictions mutual
malsim replay claims/ --law records --json
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.files.outputs import save_files

if TYPE_CHECKING:
    import polars as pl

    from malsim.lab.studies.laws.replayed import LawReplay
    from malsim.sim.record.scoring import Score
    from malsim.sim.replay.feed import Replay
    from malsim.sim.writers.engine.claim_files import ClaimFile


HEADING = "compare and bring memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "claims",
        metavar="CLAIMS",
        help="CSV, Parquet or NDJSON, also gzipped; a folder with claims and truth; a store; or what malsim import reads",
    )
    add("--confidence", type=float, metavar="NUMBER", help="of claims in a memory that state none")
    add("--truth", metavar="TRUTH", help="object, value and, where truth changes, valid_from")
    add("--law", default="mal", metavar="LAW", help="which law answers (mal); `malsim laws` lists them")
    add("--rules", metavar="FILE", help="of mal: default, recall_v5, or a TOML file with [rules]")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="change a rule (rules.NAME) or a law's (law.NAME)")
    add("--contradictions", choices=("mutual", "forward"), default="mutual", help="of mal; default: mutual")
    add("--on-bad-rows", choices=("stop", "skip"), default="stop", help="default: stop")
    add("--seed", type=int, default=0, metavar="N", help="of intervals, and of how untimed claims reach mal")
    add("--strict", action="store_true", help="exit 1 if the gate refused a claim")
    add("--json", action="store_true", help="print one JSON object of figures instead")
    add("-o", "--output", type=Path, metavar="DIR", help="folder for answers and figures; default out/NAME")


def main(args: argparse.Namespace) -> int:
    """Read, replay, score, write, say."""
    from malsim.laws import find_law

    law = find_law(args.law, where="--law").name
    rules = _rules(args, law)
    claims, truth = _read(args)
    result = _replay(args, law, rules, claims, truth)
    path = Path(args.claims)
    name = path.resolve().parent.name if path.name.startswith("claims.") else path.resolve().name.split(".")[0]
    folder = args.output or (None if args.json else Path("out") / f"replay_{name}")
    files = _write(result, folder) if folder else []
    if args.json:
        print(json.dumps(_figures(result), allow_nan=False))
    else:
        print(_table(result, claims.height, args.contradictions))
        print(f"  {folder}/: {', '.join(files)}")
    return int(args.strict and _refusals(result) > 0)


def _refusals(result: Replay | LawReplay) -> int:
    """How many claims the gate refused; a law without a gate refuses none."""
    from malsim.sim.replay.feed import Replay

    return result.refused.height if isinstance(result, Replay) else 0


def _rules(args: argparse.Namespace, law: str) -> Any:  # rules, or the parameters of a law
    """The rules of a graph of claims, or the parameters of another law."""
    from malsim.base.errors import UsageError
    from malsim.lab.space.scenario_options import law_settings
    from malsim.laws import plant_of
    from malsim.laws.engine.graph_plant import Graph
    from malsim.memory import Rules

    if isinstance(plant := plant_of(law), Graph):
        return (Rules.read(args.rules) if args.rules else plant.rules).set(*args.set)
    if args.rules:
        raise UsageError("rules are of the law mal", where="--rules", given=args.rules, hint="leave out --law, or --rules")
    return law_settings(args.set)


def _read(args: argparse.Namespace) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Claims and truth, from two files or from the folder that holds both; what was left out or clipped is said."""
    from malsim.importers.building.claim_stream import is_memory
    from malsim.lab.studies.laws import file_of
    from malsim.sim.writers.engine.claim_files import read_claims, read_truth

    given, truth = Path(args.claims), args.truth
    if given.is_dir() and any(given.glob("claims.*")):
        given, truth = file_of(given, "claims"), truth or file_of(given, "truth")
    source = _memory(args) if is_memory(given) else read_claims(given, on_bad_rows=args.on_bad_rows)
    if source.bad.height:
        print(f"{source.bad.height} bad rows left out, the first on line {source.bad['line'][0]}", file=sys.stderr)
    if source.clipped:
        print(f"{source.clipped} stated confidences of 0 or 1 taken as 0.001 or 0.999", file=sys.stderr)
    return source.claims, read_truth(truth, epoch=source.epoch) if truth else None


def _memory(args: argparse.Namespace) -> ClaimFile:
    """The claims of a memory, as of a file."""
    import polars as pl

    from malsim.importers.building.claim_stream import stream
    from malsim.sim.writers.engine.claim_files import ClaimFile

    source = stream(args.claims, confidence=args.confidence)
    for what, count in source.left_out.items():
        if count:
            print(f"left out: {count} {what}", file=sys.stderr)
    return ClaimFile(source.claims, pl.DataFrame(schema={"line": pl.Int64, "problem": pl.String}), None)


def _replay(
    args: argparse.Namespace, law: str, rules: Any, claims: pl.DataFrame, truth: pl.DataFrame | None
) -> Replay | LawReplay:
    from malsim.base.progress import progress
    from malsim.lab.studies.laws.replayed import dawid_skene, replay_law
    from malsim.memory import Rules
    from malsim.sim.replay.feed import replay

    if not isinstance(rules, Rules):
        return replay_law(claims, truth, law=law, params=rules, seed=args.seed)
    watch = partial(progress, what="replay", unit="batch")
    result = replay(claims, truth, rules=rules, contradictions=args.contradictions, seed=args.seed, watch=watch)
    if truth is not None:
        result.baselines.update(dawid_skene(claims, truth, seed=args.seed))
    return result


def _figures(result: Replay | LawReplay) -> dict[str, Any]:
    """What --json prints."""
    from malsim.sim.replay.feed import Replay

    settled = result.settled if isinstance(result, Replay) else None
    rest = {"settled": settled.settled, "ticks": settled.ticks, "refused": _refusals(result)} if settled else {}
    if result.score is None:
        return {"objects": result.answers.height, **rest}
    own = result.score
    figures = ("accuracy", "brier", "log_loss", "ece")
    return {
        "objects": own.objects,
        "accuracy": _finite(own.value["accuracy"]),
        "accuracy_ci": [_finite(end) for end in own.interval["accuracy"]],
        **{name: _finite(own.value[name]) for name in ("auc", "brier", "log_loss", "ece")},
        **rest,
        "baselines": {name: {part: _finite(one.value[part]) for part in figures} for name, one in result.baselines.items()},
    }


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value  # JSON has no NaN


def _table(result: Replay | LawReplay, claims: int, contradictions: str) -> str:
    from malsim.sim.replay.feed import Replay
    from malsim.sim.why.refused_claims import replay_lines

    if isinstance(result, Replay):
        lines = [f"{claims} claims, contradictions {contradictions}; {result.settled}"]
        lines += replay_lines(result.refused)
    else:
        lines = [f"{claims} claims under the law {result.law}"]
    if result.score is None:
        return "\n".join([*lines, f"  {result.answers.height} objects answered; give --truth to score them"])
    lines.append(f"  {result.score.objects} questions; 95 % intervals by bootstrap over them")
    lines.append(f"  {'':<12} " + " ".join(f"{name:^22}" for name in result.score.value))
    rows = {"memory": result.score, **result.baselines}
    return "\n".join(
        [*lines, *(f"  {name:<12} " + " ".join(_cell(score, part) for part in score.value) for name, score in rows.items())]
    )


def _cell(score: Score, name: str) -> str:
    low, high = score.interval[name]
    return "-".center(22) if math.isnan(score.value[name]) else f"{score.value[name]:.3f} [{low:.3f}, {high:.3f}]".center(22)


def _write(result: Replay | LawReplay, folder: Path) -> list[str]:
    """Answers and, with truth, the reliability diagram; of a graph of claims also contested trajectories."""
    from malsim.showing.plots.runs.reliability import reliability
    from malsim.sim.replay.feed import Replay

    contents = {"answers.parquet": result.answers, **(_contested(result) if isinstance(result, Replay) else {})}
    if result.score is not None and result.score.objects and not result.answers["probability"].null_count():
        title = "Is an effective of p right with frequency p?"
        contents["reliability.png"] = reliability(result.answers, title=title)
    return [path.name for path in save_files(folder, contents)]


def _contested(result: Replay) -> dict[str, Any]:
    import polars as pl

    from malsim.showing.plots.runs.trajectories import trajectories

    if not result.labels.height:
        return {}
    empty = pl.DataFrame(schema={"t": pl.Float64, "kind": pl.String, "subject": pl.String})
    title = "The most contested objects: what the first claim of each value is worth"
    axis = "time (days)" if result.dated else "arrived (% of the claims)"
    figure = trajectories(result.cells, empty, result.labels, title=title, x=axis)
    return {"contested.parquet": result.cells, "contested.png": figure}
