"""Judge scenarios by their own checks: exit 0 all passed, 1 a check failed, 2 the apparatus failed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from malsim.memory import Rules
    from malsim.scenario.judge import Judged

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="scenario files, or folders of them")
    parser.add_argument("--rules", metavar="FILE", help="judge under these rules instead: a TOML file, default or recall_v5")
    parser.add_argument("--seed", type=int, metavar="N", help="another seed")
    parser.add_argument("--replications", type=int, metavar="N", help="how many independent lives to judge")
    parser.add_argument("--replication", type=int, metavar="K", help="judge this one life alone")


def main(args: argparse.Namespace) -> int:
    """Judge each file, print a line a check, and say how many passed."""
    from malsim.errors import MalsimError, UsageError
    from malsim.memory import Rules

    rules = Rules.read(args.rules) if args.rules else None
    failed = broken = passed = 0
    for path in _files(args.paths):
        try:
            judged = _judged(path, args, rules)
        except MalsimError as problem:
            print(f"{problem}" if str(path) in str(problem) else f"{path}: {problem}")
            broken += 1
            continue
        _print(judged)
        statuses = [outcome.status for outcome in judged.outcomes]
        passed, failed = passed + statuses.count("pass"), failed + statuses.count("fail")
        broken += statuses.count("error") + bool(judged.error)
    if not passed + failed + broken:
        raise UsageError("no check was found", given=", ".join(map(str, args.paths)), hint="write a [[check]]")
    print(f"{passed} passed, {failed} failed, {broken} could not be judged")
    return 2 if broken else 1 if failed else 0


def _files(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        found += sorted(path.rglob("*.toml")) if path.is_dir() else [path]
    return found


def _judged(path: Path, args: argparse.Namespace, rules: Rules | None) -> Judged:
    from malsim.scenario.files import read
    from malsim.scenario.judge import judge

    changes = {name: getattr(args, name) for name in ("seed", "replications") if getattr(args, name) is not None}
    if args.replication is not None:
        changes |= {"first": args.replication, "replications": 1}
    if rules is not None:
        changes["rules"] = rules
    scenario = read(path)
    return judge(scenario.replace(**changes) if changes else scenario)


def _print(judged: Judged) -> None:
    scenario = judged.scenario
    if judged.error:
        print(f"{scenario.path}: error: {judged.error}")
    elif not judged.outcomes:
        print(f"{scenario.path}: nothing is checked")
    for outcome in judged.outcomes:
        print(f"{scenario.path}:{outcome.check.line}: {outcome.status}: {outcome.check.name}: {outcome.said}")
        if outcome.status == "fail":
            print(f"  seed {scenario.seed}; alone: {judged.command(outcome)}")
