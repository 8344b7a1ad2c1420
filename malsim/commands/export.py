"""Export a store as JSON lines or in Recall's format."""

from __future__ import annotations

import argparse
from pathlib import Path

from malsim.base.files.outputs import whole_file

HEADING = "memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", type=Path, metavar="STORE", help="store to read")
    add("--as", dest="form", choices=("jsonl", "recall"), required=True, help="format to write")
    add(
        "-o", "--output", type=Path, required=True, metavar="FILE",
        help="file to write; for recall, a name ending in .json writes an archive, any other name a database",
    )  # fmt: skip


def main(args: argparse.Namespace) -> int:
    import importlib

    from malsim.base.errors import UsageError
    from malsim.base.files.sqlite_file import refusing_file
    from malsim.importers.writing.cells import opened

    if args.output.exists():
        raise UsageError("the file already exists", where="-o", given=str(args.output), hint="choose another name with -o")
    if not args.output.parent.is_dir():
        raise UsageError("no such folder", where="-o", given=str(args.output.parent))
    cells = opened(args.store)
    writer = importlib.import_module(f"malsim.importers.writing.{args.form}")
    with whole_file(args.output) as target, refusing_file(args.output):
        counts = writer.write(cells, target)
    print(args.output)
    for name, count in counts.items():
        if count:
            print(f"  {name:<60} {count}")
    return 0
