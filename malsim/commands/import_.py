"""Import another memory's file or folder into a store; or prime a store from another store."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.importers.reading.records import Options

HEADING = "memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="SOURCE", help="file or folder of another memory, or a store to copy cells from; never changed")
    add("-o", "--output", type=Path, required=True, metavar="STORE", help="store to write")
    add(
        "--as", dest="form", metavar="FORMAT",
        help="arw, claude-code, event-log, graphiti, langgraph, letta, markdown, mcp, mem0 or recall; "
        "default: detected from the file",
    )  # fmt: skip
    add("--confidence", type=float, metavar="NUMBER", help="confidence of cells that have none; these cells are marked")
    add("--bootstrap", action="store_true", help="add those of the ten cells that are missing")
    add("--contradict", action="store_true", help="mem0: let an update also contradict the cell that it replaces")
    add("--scopes", action="store_true", help="import each user_id, group_id, namespace or agent into its own scope")
    add("--payload", metavar="FILE", help="mem0: JSON of its vector store, which records the writers")
    add(
        "--writer-segment",
        type=int,
        metavar="N",
        help="langgraph: index (from 0) of the namespace segment that names the writer",
    )


def main(args: argparse.Namespace) -> int:
    from malsim.importers.building.bring import bring
    from malsim.importers.building.save import write
    from malsim.memory.store import Store
    from malsim.memory.tables.connect import is_store

    if is_store(Path(args.source)):
        return _prime(args)
    options = _options(args)
    imported = bring(args.source, form=args.form, options=options)
    write(imported, args.output, options.scopes)
    if args.bootstrap:
        with Store(args.output) as store:
            store.bootstrap(store.day or 0.0, missing=True)
    print(f"{args.output}: {imported}")
    return 0


def _options(args: argparse.Namespace) -> Options:
    from malsim.base.errors import UsageError
    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import open_source
    from malsim.memory.store import Store

    if args.confidence is not None and not 0.0 < args.confidence <= 1.0:
        raise UsageError("out of bounds", where="--confidence", given=args.confidence, allowed="above 0, at most 1")
    payload = None
    if args.payload:
        with open_source(args.payload) as source:
            payload = source.document
    scopes = dict[str, int]() if args.scopes else None  # maps each scope to its replication number
    if args.scopes and args.output.exists():
        with Store(args.output, write=False) as store:
            scopes = store.scopes
    return Options(
        confidence=args.confidence, contradict=args.contradict, payload=payload, writer_segment=args.writer_segment,
        scopes=scopes,
    )  # fmt: skip


def _prime(args: argparse.Namespace) -> int:
    from malsim.memory import Memory
    from malsim.memory.push.ten_cells import bootstrap, prime
    from malsim.memory.store import Store

    lender = Memory.open(args.source)
    with Store(args.output) as store:
        before = store.memory
        day = store.day or 0.0
        complete = bootstrap(before, t=day, missing=True) if args.bootstrap else before
        store.save(prime(complete, lender, t=day), t=day)
        print(f"{args.output}: {store.memory!r}, {store.memory.cells.height - before.cells.height} new cells")
    return 0
