"""Ask the five questions of a store's charter, one at a time; an answer replaces what was said before.

malsim charter memory.sqlite                              the next question without an answer
malsim charter memory.sqlite --writer ann --answer "Keep the pumps running."
malsim charter memory.sqlite --list                       questions and answers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.finite import day

if TYPE_CHECKING:
    import argparse

    import polars as pl

    from malsim.memory import Memory

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("store", metavar="STORE", help="a store's file; made, with its ten cells, where there is none")
    parser.add_argument("--answer", metavar="TEXT", help="answer the question that is asked next")
    parser.add_argument("--question", metavar="TITLE", help="ask or answer this one, such as objective")
    parser.add_argument("--writer", default="human", metavar="NAME", help="who answers (human)")
    parser.add_argument("--list", action="store_true", help="show all five")
    parser.add_argument("--now", type=day, metavar="DAY", help="the day; default that of the last write")


def main(args: argparse.Namespace) -> int:
    """Ask, or take an answer; exit code 1 where the gate refuses it."""
    from malsim.errors import UsageError
    from malsim.memory.push.ten_cells import bootstrap, ten_cells
    from malsim.memory.store import Store

    asked = ten_cells().filter(~ten_cells()["locked"])
    if args.question is not None and args.question not in asked["title"]:
        raise UsageError("no such question", given=args.question, allowed=", ".join(asked["title"]))
    with Store(args.store) as store:
        memory = store.memory
        if memory.cells.is_empty():
            memory = bootstrap(memory, t=args.now or 0.0)
            store.save(memory)
        now = (store.day or 0.0) if args.now is None else args.now
        answers = {title: _answer(memory, handle) for handle, title in asked.select("handle", "title").iter_rows()}
        if args.list:
            return _listed(asked, answers)
        open_ = [title for title, found in answers.items() if found is None]
        title = args.question or next(iter(open_), None)
        if title is None:
            print("every question has an answer; --list shows them, --question TITLE --answer TEXT replaces one")
            return 0
        if args.answer is None:
            print(f"{title}: {_question(asked, title)}")
            return 0
        return _taken(store, asked, title, args.answer, args.writer, now)


def _question(asked: pl.DataFrame, title: str) -> str:
    return str(asked.filter(asked["title"] == title)["body"][0])


def _answer(memory: Memory, handle: str) -> str | None:
    """What the live version of a question's cell says; None where nobody answered."""
    from malsim.errors import AddressError

    try:
        chain = memory.chain(memory.row(handle))
    except AddressError:
        return None
    return str(memory.cells["body"][chain[-1]]) if len(chain) > 1 else None


def _listed(asked: pl.DataFrame, answers: dict[str, str | None]) -> int:
    for title, answer in answers.items():
        print(f"{title}: {_question(asked, title)}\n  {answer or '–'}")
    return 0


def _taken(store: Any, asked: pl.DataFrame, title: str, answer: str, writer: str, now: float) -> int:
    """Propose the answer as what supersedes the question, or the answer before."""
    handle = str(asked.filter(asked["title"] == title)["handle"][0])
    head = store.memory.head(handle)
    verdict = store.admit([{
        "writer": writer, "kind": handle[:3], "title": title, "body": answer, "confidence": 0.7, "t": now, "origin": "human",
        "edges": [{"relation": "supersedes", "target": head, "weight": 0.0}],
    }]).row(0, named=True)  # fmt: skip
    if verdict["verdict"] == "refused":
        print("refused: " + "; ".join(f"{issue['path']} {issue['message']}" for issue in verdict["issues"]))
        return 1
    print(f"{title}: taken as {verdict['handle']}")
    return 0
