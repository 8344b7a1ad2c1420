"""Replay a file of real claims through the memory; with truth, score its answers beside two baselines."""

from __future__ import annotations

import json
import math
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from malsim.sim.replay import Replay
    from malsim.sim.scoring import Score

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("claims", metavar="CLAIMS", help="CSV, Parquet or NDJSON, also gzipped: writer, object, value, …")
    parser.add_argument("--truth", metavar="TRUTH", help="object, value and, where truth changes, valid_from")
    parser.add_argument("--rules", default="default", metavar="FILE", help="default, recall_v5, or a TOML file with [rules]")
    parser.add_argument(
        "--set", action="append", default=[], metavar="rules.NAME=VALUE", help="change one rule; may be repeated"
    )
    parser.add_argument("--contradictions", choices=("mutual", "forward"), default="mutual", help="default: mutual")
    parser.add_argument("--on-bad-rows", choices=("stop", "skip"), default="stop", help="default: stop")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the order in which untimed claims arrive")
    parser.add_argument("--json", action="store_true", help="print one JSON object of figures instead")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder for answers and figures; default out/NAME")


def main(args: argparse.Namespace) -> int:
    """Read, replay, score, write, say."""
    from malsim.memory import Rules
    from malsim.progress import progress
    from malsim.sim.claim_files import read_claims, read_truth
    from malsim.sim.replay import replay

    rules = Rules.read(args.rules).set(*args.set)
    found = read_claims(args.claims, on_bad_rows=args.on_bad_rows)
    truth = read_truth(args.truth, epoch=found.epoch) if args.truth else None
    if found.bad.height:
        print(f"{found.bad.height} bad rows left out, the first on line {found.bad['line'][0]}", file=sys.stderr)
    watch = partial(progress, what="replay", unit="batch")
    result = replay(found.claims, truth, rules=rules, contradictions=args.contradictions, seed=args.seed, watch=watch)
    path = Path(args.claims)
    name = path.resolve().parent.name if path.name.startswith("claims.") else path.name.split(".")[0]
    folder = args.output or (None if args.json else Path("out") / f"replay_{name}")
    written = _write(result, folder) if folder else []
    if args.json:
        print(json.dumps(_figures(result)))
    else:
        print(_table(result, found.claims.height, args.contradictions))
        print(f"  {folder}/: {', '.join(written)}")
    return 0


def _figures(result: Replay) -> dict[str, Any]:
    """What --json prints."""
    settled = {"settled": result.settled.settled, "ticks": result.settled.ticks}
    if result.score is None:
        return {"objects": result.answers.height, **settled}
    own = result.score
    kept = ("accuracy", "brier", "log_loss", "ece")
    return {
        "objects": own.objects,
        "accuracy": own.value["accuracy"],
        "accuracy_ci": list(own.interval["accuracy"]),
        **{name: _finite(own.value[name]) for name in ("auc", "brier", "log_loss", "ece")},
        **settled,
        "baselines": {name: {part: score.value[part] for part in kept} for name, score in result.baselines.items()},
    }


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value  # JSON has no NaN


def _table(result: Replay, claims: int, contradictions: str) -> str:
    lines = [f"{claims} claims, contradictions {contradictions}; {result.settled}"]
    if result.refused.height:
        lines.append(
            f"  the gate refused {result.refused.height} claims; the first: {result.refused['issues'][0].to_list()}"
        )
    if result.score is None:
        return "\n".join([*lines, f"  {result.answers.height} objects answered; give --truth to score them"])
    lines.append(f"  {result.score.objects} questions; 95 % intervals by bootstrap over them")
    lines.append(f"  {'':<10} " + " ".join(f"{name:^22}" for name in result.score.value))
    rows = {"memory": result.score, **result.baselines}
    return "\n".join(
        [*lines, *(f"  {name:<10} " + " ".join(_cell(score, part) for part in score.value) for name, score in rows.items())]
    )


def _cell(score: Score, name: str) -> str:
    low, high = score.interval[name]
    return f"{score.value[name]:.3f} [{low:.3f}, {high:.3f}]".center(22)


def _write(result: Replay, folder: Path) -> list[str]:
    """Answers, contested trajectories and, with truth, the reliability diagram."""
    import polars as pl

    from malsim.plot.reliability import reliability
    from malsim.plot.trajectories import trajectories

    folder.mkdir(parents=True, exist_ok=True)
    result.answers.write_parquet(folder / "answers.parquet")
    written = ["answers.parquet"]
    if result.labels.height:
        result.cells.write_parquet(folder / "contested.parquet")
        empty = pl.DataFrame(schema={"t": pl.Float64, "kind": pl.String, "subject": pl.String})
        title = "The most contested objects: what the first claim of each value is worth"
        axis = "time (days)" if result.dated else "arrived (% of the claims)"
        trajectories(result.cells, empty, result.labels, title=title, x=axis).savefig(folder / "contested.png")
        written += ["contested.parquet", "contested.png"]
    if result.score is not None and result.score.objects:
        reliability(result.answers, title="Is an effective of p right with frequency p?").savefig(folder / "reliability.png")
        written.append("reliability.png")
    return written
