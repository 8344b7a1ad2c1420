"""Build the board: how each memory does in every family of questions, as pages that open offline.

malsim board -o out/board                                     every law, preset and package; a board that was killed goes on
malsim board --rows records,majority --families axioms,loop   a corner of it
malsim board --memory my_memory:Votes --rows majority         a memory of your own beside one of ours
malsim board add my_memory:Votes --badge votes.svg            your row as a bundle for others to check
malsim board merge Votes.bundle.json --allow-code             run a drawn tenth of a bundle again, then take its row
malsim board --plan plan.toml                                 what was expected beforehand: held, not held, undecided
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from malsim.board.board_rows import BoardRow
    from malsim.board.build_board import MemoryBoard
    from malsim.board.figures import BoardSize

HEADING = "judge"
NONE = "none"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("what", nargs="*", metavar="add MEMORY | merge FILE", help="make a bundle of a memory's row, or check and take some")
    add(
        "--rows",
        default="",
        metavar="A,B",
        help="these rows alone: laws, guarded, governed, packages; none for no row of ours",
    )
    add("--families", default="", metavar="A,B", help="these columns: duties, prices, axioms, headline, poisoning, loop, …")
    add(
        "--memory",
        action="append",
        default=[],
        metavar="MODULE:FACTORY",
        help="a row of your own, whose code is run; repeat",
    )
    add("--replications", type=int, default=16, metavar="N", help="of what is drawn (16; of each attack half as many)")
    add("--seed", type=int, metavar="N", help="of what is drawn (0); with merge, of the tenth")
    add("--claims", action="append", default=[], metavar="DIR", help="a folder of real claims with truth; may be repeated")
    add("--plan", type=Path, metavar="FILE", help="the rows and the seed of a plan that malsim preregister pinned")
    add("--limit", type=float, default=10.0, metavar="S", help="seconds a call of your own memory may take (10)")
    add("--workers", type=int, default=1, metavar="N", help="processes (1)")
    add("--cluster", metavar="ADDRESS", help='a Dask scheduler to use instead; needs pip install "malsim[cluster]"')
    add("--allow-code", action="store_true", help="merge: run the code that a bundle names")
    add("--badge", type=Path, metavar="FILE", help="add: write a badge (SVG)")
    add("--summary", type=Path, metavar="FILE", help="add: append the row as Markdown, as to $GITHUB_STEP_SUMMARY")
    add("-o", "--output", type=Path, default=Path("out/board"), metavar="DIR", help="the board's folder (out/board)")


def main(args: argparse.Namespace) -> int:
    """Build, add, merge or judge a plan."""
    from malsim.base.errors import UsageError, nearest

    if not args.what:
        return _plan(args) if args.plan else _build(args)
    deeds = {"add": _add, "merge": _merge}
    if args.what[0] not in deeds:
        raise UsageError(
            "no such thing", where="board", given=args.what[0], hint=nearest(args.what[0], deeds, "add or merge")
        )
    if len(args.what) < 2 or (args.what[0] == "add" and len(args.what) > 2):  # noqa: PLR2004  # the word and one memory
        raise UsageError("which one?", where=f"board {args.what[0]}", given=" ".join(args.what[1:]) or None)
    return deeds[args.what[0]](args)


def _size(args: argparse.Namespace) -> BoardSize:
    from malsim.base.errors import UsageError
    from malsim.board.figures import BoardSize

    if args.replications < 2:  # noqa: PLR2004  # one has no spread
        raise UsageError("too few", where="--replications", given=args.replications, allowed="2 or more")
    return BoardSize(args.replications, args.seed or 0, tuple(args.claims), args.limit)


def _run(args: argparse.Namespace, rows: list[BoardRow], families: list[str], size: BoardSize) -> MemoryBoard:
    from malsim.base.progress import progress
    from malsim.board.build_board import board
    from malsim.lab.studies.pool import cluster_of

    watch = partial(progress, what="board", unit="row and family")
    with cluster_of(args.cluster) if args.cluster else nullcontext() as client:
        return board(rows, families, size=size, folder=args.output, workers=args.workers, executor=client, watch=watch)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _build(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError
    from malsim.board.board_rows import find_rows, own_row

    own = [own_row(each) for each in args.memory]
    rows = ([] if args.rows == NONE else find_rows(_names(args.rows))) + own
    if not rows:
        raise UsageError("no row", where="--rows", given=args.rows, hint="name laws or packages, or --memory")
    built = _run(args, rows, _names(args.families), _size(args))
    _write(args, built, built.data())
    return 0


def _write(args: argparse.Namespace, built: MemoryBoard, data: dict[str, Any]) -> None:
    from malsim.board.board_files import write_board

    names = write_board(data, args.output)
    print(f"{len(built.rows)} rows, {len(built.families)} families; {built.ran} of {len(built.keys)} run now")
    missing = [f"  {row.name}: {row.missing}" for row in built.rows if row.missing]
    print("\n".join([*missing, f"  {args.output}/: {', '.join(names)}"]))


def _plan(args: argparse.Namespace) -> int:
    """Judge a plan: exit 1 where something expected did not hold."""
    from malsim.board.plan import check_pin, pin_of, read_plan, verdicts

    plan = read_plan(args.plan)
    check_pin(plan)
    size = plan.size()
    built = _run(args, list(plan.rows), [family.name for family in plan.families], size)
    rows = list(verdicts(plan, built))
    _write(args, built, built.data() | {"plan": {"hash": pin_of(plan), "seed": size.seed, "verdicts": rows}})
    for row in rows:
        print(f"{row['verdict']:<10} {row['expected']}: {row['why']}")
    return 1 if any(row["verdict"] == "not held" for row in rows) else 0


def _add(args: argparse.Namespace) -> int:
    from malsim.base.files.outputs import save_text
    from malsim.board.board_rows import own_row
    from malsim.board.bundle import bundle_of
    from malsim.board.pages.badge import badge, job_summary

    row = own_row(args.what[1])
    built = _run(args, [row], _names(args.families), _size(args))
    bundle, data = bundle_of(built, row), built.data()
    path = args.output / f"{row.name.rpartition(':')[2]}.bundle.json"
    save_text(path, bundle.text())
    print(f"{path}: {len(bundle.figures)} families, sha256 {bundle.sha256}")
    if args.badge:
        axioms = next((cell["text"] for cell in data["cells"] if cell["metric"] == "axioms"), None)
        words = f"{axioms} axioms" if axioms else f"{len(data['cells'])} cells"
        save_text(args.badge, badge("malsim", words))
    if args.summary:
        with args.summary.open("a", encoding="utf-8") as file:
            file.write(job_summary(data, row.name))
    return 0


def _merge(args: argparse.Namespace) -> int:
    """Check each bundle, then take its row; a bundle that is refused leaves the board as it was."""
    import secrets

    from malsim.base.errors import UsageError
    from malsim.board.board_files import with_bundle, write_board
    from malsim.board.build_board import read_board
    from malsim.board.bundle import check_bundle, read_bundle

    data = read_board(args.output / "board.json")
    for name in args.what[1:]:
        bundle = read_bundle(Path(name), claims=tuple(args.claims))
        here, theirs = (data["size"][key] for key in ("replications", "seed")), (bundle.size.replications, bundle.size.seed)
        if tuple(here) != theirs:
            raise UsageError("not the size of this board", where=name, given=f"replications {theirs[0]}, seed {theirs[1]}",
                             allowed=f"{data['size']['replications']}, {data['size']['seed']}")  # fmt: skip
        if bundle.row.kind != "law" and not args.allow_code:
            hint = "read that code, then add --allow-code"
            raise UsageError("this bundle names code to be run", where=name, given=bundle.row.memory, hint=hint)
        seed = secrets.randbits(32) if args.seed is None else args.seed
        report = check_bundle(bundle, seed=seed)
        data = with_bundle(data, bundle, report)
        print(f"{name}: {bundle.row.name} is as it says (drawn with seed {seed})")
        print(f"  run again: {report['checked']}\n  odds: {report['odds']}")
    write_board(data, args.output)
    return 0
