"""Measure whom to believe: laws and votes on folders of real claims, ablations, reliability, and lying writers.

python -m tests.bench.evidence FOLDER FOLDER -o out/evidence
python -m tests.bench.evidence --adversaries 20
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from malsim.memory import Rules


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what may be asked."""
    add = parser.add_argument
    add("folders", nargs="*", type=Path, metavar="FOLDER", help="folders that hold claims and truth")
    laws = "which, by commas; the first is what the others are compared with; tuned: mal under --rules"
    add("--laws", default="records,mal,tuned,majority,dawid_skene,crh,truthfinder", metavar="LAWS", help=laws)
    add("--rules", metavar="FILE", help="the tuned rules; default scenarios/rules/tuned_on_claims.toml")
    add("--adversaries", type=int, default=0, metavar="N", help="also N replications among lying writers a law")
    add("--weak", type=int, default=0, metavar="N", help="also N draws of each world in which `records` is weak")
    add("--gossip", metavar="FOLDER", help="also how many gossips of one story `records` stands: claims by time")
    add("--ask", default="0d", metavar="TIME", help="from a row of the truth to its question (0d)")
    add("--halves", action="store_true", help="also score constants chosen on half of the questions")
    add("--seed", type=int, default=0, metavar="N", help="of intervals and of the replications")
    add("--json", action="store_true", help="print one JSON object of the tables instead")
    add("-o", "--output", type=Path, metavar="DIR", help="folder for tables (Parquet) and the figure")


def main(argv: Sequence[str] | None = None) -> int:
    """Ask, score, say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    return _main(parser.parse_args(argv))


def _main(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError
    from tests.bench.evidence.adversaries import adversary_table
    from tests.bench.evidence.gossip import gossip_table
    from tests.bench.evidence.weak_spots import weak_table

    if not args.folders and args.adversaries < 1 and args.weak < 1 and not args.gossip:
        raise UsageError("nothing to measure", hint="name folders of claims, or --adversaries 5")
    tables = _on_claims(args) if args.folders else {}
    if args.adversaries > 0:
        tables["adversaries"] = adversary_table(replications=args.adversaries, seed=args.seed)
    if args.weak > 0:
        tables["weak"] = weak_table(draws=args.weak, seed=args.seed)
    if args.gossip:
        tables["gossip"] = gossip_table(args.gossip, seed=args.seed)
    if args.output:
        _write(tables, args.output)
    if args.json:
        print(json.dumps({name: table.fill_nan(None).to_dicts() for name, table in tables.items()}, allow_nan=False))
    else:
        for name, table in tables.items():
            print(f"{name}\n{_text(name, table)}\n")
    return 0


def _on_claims(args: argparse.Namespace) -> dict[str, pl.DataFrame]:
    """The tables of real claims."""
    from malsim.sim.world.clock import DAY, span
    from tests.bench.evidence.ablations import ablation_table, halving_table
    from tests.bench.evidence.tables import answers_of, reliability_table, score_table

    rules, laws = _rules(args), [name.strip() for name in args.laws.split(",")]
    ask, sets = span(args.ask, where="--ask") / DAY, []
    for folder in args.folders:
        sets.append(answers_of(folder, laws, tuned=rules, ask=ask, seed=args.seed))
        sys.stderr.write(f"{folder.name}: asked\n")
    halves = {"halves": halving_table(args.folders, seed=args.seed)} if args.halves else {}
    return {
        "scores": score_table(sets, seed=args.seed),
        "reliability": reliability_table(sets),
        "ablations": ablation_table(args.folders),
        **halves,
    }


def _rules(args: argparse.Namespace) -> Rules:
    from malsim.examples import examples
    from malsim.memory import Rules

    shipped = (each.path for each in examples() if each.name == "scenarios/rules/tuned_on_claims.toml")
    return Rules.read(args.rules or next(shipped))


def _text(name: str, table: pl.DataFrame) -> str:
    """A table a person reads: scores and replications with laws side by side."""
    import polars as pl

    if name == "scores":
        means = table.with_columns(pl.col("value").round(3)).pivot("metric", index=["data", "law"], values="value")
        gains = table.filter(pl.col("metric") == "brier").select("data", "law", "gain", "gain_low", "gain_high")
        table = means.join(gains, on=["data", "law"], maintain_order="left")
    if name == "gossip":
        table = table.pivot("gossips", index="setting", values="accuracy")
    if name == "weak":
        table = table.with_columns(pl.concat_str(pl.col("value", "low", "high").round(3), separator=" ")).pivot(
            "law", index="spot", values="value"
        )
    if name == "adversaries":
        table = table.pivot("law", index="world", values="value")
    with pl.Config(
        tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, float_precision=3
    ):
        return str(table)


def _write(tables: dict[str, pl.DataFrame], folder: Path) -> None:
    from malsim.base.files.outputs import folder_of_files
    from tests.bench.evidence.curves import gossips, said_and_right

    with folder_of_files(folder) as place:
        for name, table in tables.items():
            table.write_parquet(place / f"{name}.parquet")
        if "reliability" in tables:
            said_and_right(tables["reliability"]).savefig(place / "reliability.png")
        if "gossip" in tables:
            gossips(tables["gossip"]).savefig(place / "gossip.png", dpi=130)


if __name__ == "__main__":
    raise SystemExit(main())
