"""Import another memory's file or folder into a store; or prime a store from another one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.importers.reading.records import Options


HEADING = "memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="SOURCE", help="another memory's file or folder, or a store that lends what it says; only read")
    add("-o", "--output", type=Path, required=True, metavar="STORE", help="the store to write")
    add(
        "--as", dest="form", metavar="FORMAT",
        help="arw, claude-code, event-log, graphiti, langgraph, letta, markdown, mcp, mem0 or recall; "
        "default: found from the file",
    )  # fmt: skip
    add("--confidence", type=float, metavar="NUMBER", help="let cells without a confidence state this one, and mark them so")
    add("--bootstrap", action="store_true", help="give the store those of the ten cells that it lacks")
    add("--contradict", action="store_true", help="mem0: an update also contradicts what it replaces")
    add(
        "--scopes",
        action="store_true",
        help="import each user_id, group_id, namespace or agent into a scope of its own",
    )
    add("--payload", metavar="FILE", help="mem0: the JSON of its vector store, which knows who wrote")
    add("--writer-segment", type=int, metavar="N", help="langgraph: the segment of the namespace that is the writer, from 0")


def main(args: argparse.Namespace) -> int:
    from malsim.importers.building.bring import bring
    from malsim.importers.building.save import write
    from malsim.memory.store import Store
    from malsim.memory.tables.connect import is_store

    if is_store(Path(args.source)):
        return _prime(args)
    options = _options(args)
    came = bring(args.source, form=args.form, options=options)
    write(came, args.output, options.scopes)
    if args.bootstrap:
        with Store(args.output) as store:
            store.bootstrap(store.day or 0.0, missing=True)
    print(f"{args.output}: {came}")
    return 0


def _options(args: argparse.Namespace) -> Options:
    from malsim.base.errors import UsageError
    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import open_source

    if args.confidence is not None and not 0.0 < args.confidence <= 1.0:
        raise UsageError("no confidence", where="--confidence", given=args.confidence, allowed="above 0, at most 1")
    payload = None
    if args.payload:
        with open_source(args.payload) as source:
            payload = source.document
    return Options(
        confidence=args.confidence, contradict=args.contradict, payload=payload, writer_segment=args.writer_segment,
        scopes=_scopes_of(args.output) if args.scopes else None,
    )  # fmt: skip


def _scopes_of(path: Path) -> dict[str, int]:
    """Return the scopes of a store with their replication numbers; empty if the store does not exist yet."""
    from malsim.memory.store import Store

    if not path.exists():
        return {}
    with Store(path, write=False) as store:
        return store.scopes


def _prime(args: argparse.Namespace) -> int:
    from malsim.memory import Memory
    from malsim.memory.push.ten_cells import bootstrap, prime
    from malsim.memory.store import Store

    lender = Memory.open(args.source)
    with Store(args.output) as store:
        before = store.memory
        day = store.day or 0.0
        begun = bootstrap(before, t=day, missing=True) if args.bootstrap else before
        store.save(prime(begun, lender, t=day), t=day)
        print(f"{args.output}: {store.memory!r}, {store.memory.cells.height - before.cells.height} cells new")
    return 0
