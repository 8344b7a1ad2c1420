"""Compare laws, on scenarios or on claims with truth: replication by replication, or question by question.

malsim compare scenarios/poisoner.toml scenarios/sleeper.toml --laws mal,graphiti,last_write --replications 200
malsim compare claims/ --laws last_write,graphiti,mal --ask 30d --without rumour --json
malsim compare --headline -o out/headline       who sees changes, returns and through gossip, in fifty-four worlds
malsim compare log.jsonl --laws records,last_write      what each would have answered to the questions in a log
malsim compare history.db --laws records,last_write --confidence 0.7    what each makes of another memory's claims
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.lab.space.scenario_options import memory_arguments, one_of_own

if TYPE_CHECKING:
    from malsim.adapters.engine.adapter import Adapter
    from malsim.lab.studies.laws import LawTable
    from malsim.lab.studies.laws.headline import HeadlineTable
    from malsim.lab.studies.laws.on_log import LogComparison
    from malsim.sim.settings.scenario import Scenario


HEADING = "compare and bring memories"
REPLICATIONS, DRAWS = 100, 8


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "what",
        nargs="*",
        metavar="SCENARIO|DIR|LOG",
        help="scenario files, folders with claims and truth, a log of events, or what malsim import reads",
    )
    add("--headline", action="store_true", help="in place of these: drawn worlds of changing facts and gossips")
    add(
        "--laws",
        default="",
        metavar="A,B",
        help="laws (or all), or memories of your own, against the first; a log has a default",
    )
    memory_arguments(parser)
    add(
        "--judge",
        metavar="RATE=A:B",
        help="on scenarios: a judge in place of the language model, that errs so often: miss=0:0.5",
    )
    add("--metric", default="accuracy,harm", metavar="M,M", help="on scenarios: figures (accuracy,harm)")
    add("--seed", type=int, metavar="N", help="another seed than the scenarios' own; of the draws on claims (0)")
    add("--replications", type=int, metavar="N", help="on scenarios: of each (100); draws of a world (8)")
    add("--decide", action="store_true", help="on scenarios: add replications until one law alone may be the first")
    add("--most", type=int, default=1600, metavar="N", help="with --decide: replications at most (1600)")
    add("--confidence", type=float, metavar="NUMBER", help="of claims in a memory that state none")
    add("--ask", default="0d", metavar="TIME", help="on claims: from a change of truth to the question (0d)")
    add("--without", action="append", default=[], metavar="WRITER", help="on claims: leave its claims out")
    add("--echo", metavar="WRITER", help="on claims: measure without and with this writer, an echo")
    add("--calibrated", action="store_true", help="calibrate every law alike, on the other half of the objects or runs")
    add("--calibration", choices=("isotonic", "divisor"), default="isotonic",
        help="how, on claims; divisor: that of records, and its floor (isotonic)")  # fmt: skip
    add("--on-bad-rows", choices=("stop", "skip"), default="stop", help="on claims: default stop")
    add("--json", action="store_true", help="print the rows as one JSON list")
    add("-o", "--output", type=Path, metavar="DIR", help="folder for table, figure and page")


def main(args: argparse.Namespace) -> int:
    """Measure, print, write."""
    table = _headline(args) if args.headline else _comparison(args)
    print(table.json() if args.json else table)
    if args.output:
        paths = table.write(args.output)
        if not args.json:
            print(f"  {args.output}/: {', '.join(path.name for path in paths)}")
    failures = getattr(table, "failures", ())  # a log is put to laws, which do not fail
    if args.json and failures:
        sys.stderr.write("".join(f"malsim: {line}\n" for line in failures))
    return 2 if failures else 0


def _comparison(args: argparse.Namespace) -> LogComparison | LawTable:
    from malsim.base.errors import UsageError

    if not args.what:
        raise UsageError("nothing to compare on", where="compare", hint="name scenarios, folders or a log; or --headline")
    args.replications = REPLICATIONS if args.replications is None else args.replications
    path = Path(args.what[0])
    return _on_recording(path, args) if len(args.what) == 1 and _is_recording(path) else _table(args)


def _is_recording(path: Path) -> bool:
    """Whether a path is a log or a memory, and neither a scenario nor a folder with claims and truth."""
    from malsim.importers.building.claim_stream import is_memory

    if path.suffix == ".toml" or any(path.glob("claims.*")):
        return False
    return path.suffix == ".jsonl" or is_memory(path)


def _headline(args: argparse.Namespace) -> HeadlineTable:
    from malsim.base.errors import UsageError
    from malsim.base.progress import progress
    from malsim.lab.studies.laws.headline import headline
    from malsim.lab.studies.laws.headline.study import VARIANTS

    if args.what or args.memory:
        given = ", ".join(args.what or args.memory)
        raise UsageError("the headline draws its own worlds, for laws", where="--headline", given=given)
    laws = (
        [*VARIANTS, *_laws(args)] if args.laws == "all" else [name.strip() for name in args.laws.split(",") if name.strip()]
    )
    draws, watch = args.replications or DRAWS, partial(progress, what="headline", unit="world")
    return headline(laws, replications=draws, seed=args.seed or 0, watch=watch)


def _on_recording(path: Path, args: argparse.Namespace) -> LogComparison:
    from malsim.base.errors import UsageError
    from malsim.importers.building.claim_stream import is_memory
    from malsim.importers.event_log import is_log
    from malsim.lab.studies.laws.on_log import compare_on_log, compare_on_memory

    laws = _laws(args) or ["records", "last_write", "mal"]
    if len(laws) < 2 or args.memory:  # noqa: PLR2004  # one and another
        hint = "--laws records,last_write"
        raise UsageError("a log or a memory is put to two laws or more", where="--laws", given=args.laws, hint=hint)
    if is_log(path) or not is_memory(path):  # a damaged log says which line
        return compare_on_log(path, laws)
    return compare_on_memory(path, laws, confidence=args.confidence)


def _laws(args: argparse.Namespace) -> list[str]:
    """The laws and memories that are named, those without a colon known."""
    from malsim.laws import find_law, shipped_laws
    from malsim.memory.rules import PRESETS

    laws = list(shipped_laws()) if args.laws == "all" else [name.strip() for name in args.laws.split(",") if name.strip()]
    for law in laws:
        if ":" not in law and law not in PRESETS:
            find_law(law, where="--laws")
    return laws


def _table(args: argparse.Namespace) -> LawTable:
    from malsim.base.errors import UsageError

    laws = _laws(args)
    folders = [Path(one) for one in args.what if Path(one).is_dir()]
    if folders and len(folders) < len(args.what):
        raise UsageError("scenarios and folders of claims are compared apart", given=", ".join(args.what))
    return _on_claims(folders, laws, args) if folders else _on_scenarios(laws, args)


def _on_scenarios(laws: list[str], args: argparse.Namespace) -> LawTable:
    from malsim.adapters.engine.adapter import Adapter
    from malsim.base.errors import UsageError
    from malsim.lab.studies.laws import compare_on_scenarios
    from malsim.scenario.file.scenario_file import read
    from malsim.sim.settings.size import check_size

    metrics = [name.strip() for name in args.metric.split(",")]
    metrics += ["brier"] if args.calibrated and "brier" not in metrics else []
    scenarios = [read(one, allow_code=args.allow_code) for one in args.what]
    if args.seed is not None:
        scenarios = [scenario.replace(seed=args.seed) for scenario in scenarios]
    for scenario in scenarios:
        check_size(scenario.replace(replications=args.replications))
    own = [scenario.adapter for scenario in scenarios if scenario.adapter and not args.memory]
    own += [Adapter.of(name) for name in (*laws, *args.memory) if ":" in name]
    if args.judge:
        return _under_judges(scenarios, [one_of_own(one, args) for one in dict.fromkeys(own)], laws, args)
    every = [name for name in laws if ":" not in name] + [one_of_own(one, args) for one in dict.fromkeys(own)]
    if not every:
        raise UsageError("nothing to compare", where="--laws", hint="name laws, or a memory of your own with --memory")
    if args.calibrated and args.calibration != "isotonic":
        raise UsageError("this is for claims", where="--calibration", given=args.calibration, allowed="isotonic")
    return compare_on_scenarios(scenarios, every, metrics=metrics, replications=args.replications,
                                decide=args.decide, most=args.most, calibrated=args.calibrated)  # fmt: skip


def _under_judges(scenarios: list[Scenario], memories: list[Adapter], laws: list[str], args: argparse.Namespace) -> LawTable:
    from malsim.base.errors import UsageError
    from malsim.lab.studies.laws.judge_rates import compare_judges

    models = [name for name in laws if ":" not in name]
    if models or not memories:
        hint = "a law's verdicts are the bench's own; name memories: --memory malsim.adapters.mem0:pipeline"
        raise UsageError(
            "a judge is put to memories that ask one", where="--judge", given=", ".join(models) or None, hint=hint
        )
    metrics = [name.strip() for name in args.metric.split(",")]
    return compare_judges(scenarios, memories, args.judge, metrics=metrics, replications=args.replications)


def _on_claims(folders: list[Path], laws: list[str], args: argparse.Namespace) -> LawTable:
    from malsim.base.errors import UsageError
    from malsim.lab.studies.laws import LawTable, compare_on_claims, compare_with_echo, read_folder
    from malsim.sim.world.clock import DAY, span

    memories = ", ".join([*args.memory, *(law for law in laws if ":" in law)])
    if memories or not laws:
        hint = "run a memory of your own on scenarios" if memories else "name some: --laws mal,last_write"
        raise UsageError("folders of claims are put to laws", where="--laws", given=memories or None, hint=hint)
    after, seed = span(args.ask, where="--ask") / DAY, args.seed or 0
    tables = []
    for folder in folders:
        claims, truth = read_folder(folder, on_bad_rows=args.on_bad_rows)
        data = folder.resolve().name
        if args.echo:
            tables.append(compare_with_echo(claims, truth, laws, echo=args.echo, ask_after=after, data=data, seed=seed))
        else:
            how = args.calibration if args.calibrated else ""
            tables.append(compare_on_claims(claims, truth, laws, ask_after=after, without=args.without, data=data,
                                            seed=seed, calibration=how))  # fmt: skip
    return LawTable.concat(tables)
