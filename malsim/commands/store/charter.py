"""Ask the five questions of a store's charter, one at a time; a new answer replaces the previous answer.

malsim store charter memory.sqlite                              ask the next unanswered question
malsim store charter memory.sqlite --writer ann --answer "Keep the pumps running."
malsim store charter memory.sqlite --list                       list questions and answers
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from malsim.base.finite import day_of

if TYPE_CHECKING:
    import polars as pl

    from malsim.memory import Memory


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", metavar="STORE", help="store; created if it does not exist; any missing cell of the ten is added")
    add("--answer", metavar="TEXT", help="answer the next question")
    add("--question", metavar="TITLE", help="ask or answer this question, such as objective")
    add("--writer", default="human", metavar="NAME", help="name of the person who answers (human)")
    add("--list", action="store_true", help="list all five questions and answers")
    add("--now", metavar="DAY", help="day: a number or a date (default: day of the last write)")


def main(args: argparse.Namespace) -> int:
    """Print a question, or write an answer. Return 1 if the gate refuses the answer."""
    from malsim.base.errors import UsageError
    from malsim.memory.push.ten_cells import ten_cells
    from malsim.memory.store import Store

    questions = ten_cells().filter(~ten_cells()["locked"])
    if args.question is not None and args.question not in questions["title"]:
        raise UsageError("no such question", given=args.question, allowed=", ".join(questions["title"]))
    if args.answer is not None and not args.answer.strip():
        raise UsageError("the answer is empty", where="--answer", given=args.answer)
    with Store(args.store) as store:
        now = (store.day or 0.0) if args.now is None else day_of(args.now, store.start, where="--now")
        existed = store.height > 0
        if store.bootstrap(now, missing=True):
            print("added the missing cells of the ten" if existed else f"created {args.store} with its ten cells",
                  file=sys.stderr)  # fmt: skip
        memory = store.memory
        answers = {row["title"]: _answer(memory, row["handle"], row["body"]) for row in questions.iter_rows(named=True)}
        if args.list:
            for title, answer in answers.items():
                print(f"{title}: {_question(questions, title)}\n  {answer or '–'}")
            return 0
        title = args.question or next((title for title, answer in answers.items() if answer is None), None)
        if title is None:
            print("every question has an answer; --list shows all, --question TITLE --answer TEXT replaces one")
            return 0
        if args.answer is None:
            print(f"{title}: {_question(questions, title)}")
            return 0
        return _propose(store, questions, title, args.answer, args.writer, now)


def _question(questions: pl.DataFrame, title: str) -> str:
    return str(questions.filter(questions["title"] == title)["body"][0])


def _answer(memory: Memory, handle: str, question: str) -> str | None:
    """Return the current answer to a question, or None if it has not been answered."""
    from malsim.base.errors import AddressError

    try:
        text = str(memory.cells["body"][memory.chain(memory.row(handle))[-1]])
    except AddressError:
        return None
    return None if text == question else text


def _propose(store: Any, questions: pl.DataFrame, title: str, answer: str, writer: str, now: float) -> int:
    """Write an answer that supersedes the question or the previous answer. Return 1 if the gate refuses the answer."""
    from malsim.base.errors import AddressError

    handle = str(questions.filter(questions["title"] == title)["handle"][0])
    claim = {
        "writer": writer, "kind": handle[:3], "title": title, "body": answer, "confidence": 0.7, "t": now, "origin": "human",
    }  # fmt: skip
    try:
        claim["edges"] = [{"relation": "supersedes", "target": store.memory.head(handle), "weight": 0.0}]
    except AddressError:  # an imported store may lack the cell for this question
        claim["handle"] = handle
    verdict = store.admit([claim]).row(0, named=True)
    if verdict["verdict"] == "refused":
        print("refused: " + "; ".join(f"{issue['path']} {issue['message']}" for issue in verdict["issues"]))
        return 1
    print(f"{title}: written as {verdict['handle']}")
    return 0
