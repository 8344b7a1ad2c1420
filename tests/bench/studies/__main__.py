"""Command that runs one study with one seed and prints its rows.

python -m tests.bench.studies            which studies there are
python -m tests.bench.studies NAME --seed 7
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl


def studies() -> dict[str, str]:
    names = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    return {
        name: (importlib.import_module(f"tests.bench.studies.{name}").__doc__ or "").partition("\n")[0] for name in names
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=[*studies()], metavar="NAME", help="which; all are listed without one")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of every draw (0)")
    parser.add_argument("--json", action="store_true", help="print a list of JSON objects")
    args = parser.parse_args(argv)
    if args.name is None:
        print("\n".join(f"{name:20} {what}" for name, what in studies().items()))
        return 0
    rows = importlib.import_module(f"tests.bench.studies.{args.name}").rows(args.seed)
    with pl.Config(
        tbl_rows=-1, tbl_cols=-1, fmt_str_lengths=60, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True
    ):
        print(json.dumps(rows) if args.json else pl.DataFrame(rows, infer_schema_length=None))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
