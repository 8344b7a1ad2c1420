"""Families that count: duties kept, axioms kept, prices of the lie and of the truth, and what a call and a claim cost."""

from __future__ import annotations

import pickle
import time
from contextlib import closing
from statistics import median
from typing import TYPE_CHECKING

from malsim.adapters import Claim, Query
from malsim.base.errors import MalsimError
from malsim.board.figures import CellWitness, Figure, Metric
from malsim.judging.axioms.engine.axiom import BROKEN, N_A
from malsim.judging.axioms.engine.axiom import ERROR as AXIOM_ERROR
from malsim.judging.axioms.engine.events import event_table
from malsim.judging.axioms.engine.matrix import matrix
from malsim.judging.axioms.engine.show import replay_code
from malsim.judging.duties.engine.assessment import ERROR as DUTY_ERROR
from malsim.judging.duties.engine.assessment import FAILS, HOLDS, NOT_OFFERED, assess_all, memory_of
from malsim.judging.duties.engine.duty import OBLIGATION, PROHIBITION
from malsim.judging.prices.pricing import price_of
from malsim.judging.prices.worlds import closed_world
from malsim.memory.port import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.board.board_rows import BoardRow
    from malsim.board.figures import BoardSize
    from malsim.judging.axioms.engine.axiom import AxiomVerdict
    from malsim.judging.axioms.engine.subject import Playable, Subject

HONEST, MOST = 3, 12
OBJECTS, WRITERS, DAYS, WAIT = 20, 5, 10, 30
DUTIES = (
    Metric("obligations", "of offered", "higher", "Duties to show, keep or record something that it keeps."),
    Metric("prohibitions", "of offered", "higher", "Duties not to show something that it keeps."),
)  # fmt: skip
AXIOMS = (Metric("axioms", "of applicable", "higher", "Axioms of any sound memory that it keeps, of those that apply."),)
PRICES = (
    Metric("price of the lie", "claims", "higher", "Claims of a liar until the answer changes, three honest writers."),
    Metric("price of the truth", "claims", "lower", "Claims of the honest until a new truth is the answer."),
)
COST = (
    Metric("cost a call", "ms", "lower", "Median time of a write or a look, 200 claims about 20 objects; of this machine."),
    Metric("bytes a claim", "B", "lower", "What a claim adds to the memory as it is saved (pickle), of 200."),
    Metric("readable after", "d", "lower", "Days from the write of a claim until it is shown."),
)


def duties(row: BoardRow, size: BoardSize) -> list[Figure]:
    """Obligations and prohibitions kept of those offered; a cell that fails opens its witness."""
    verdicts = assess_all([memory_of(row.keeper, limit=size.limit)], seed=size.seed).verdicts
    figures = []
    for metric, kind in zip(DUTIES, (OBLIGATION, PROHIBITION), strict=True):
        own = [one for one in verdicts if one.kind == kind]
        parts = {one.cell: [float(one.verdict == HOLDS)] for one in own if one.verdict != NOT_OFFERED}
        witnesses = [
            CellWitness(one.cell, f"{one.verdict}: {one.why}", one.witness)
            for one in own
            if one.verdict in (FAILS, DUTY_ERROR)
        ]
        figures.append(_count(metric, parts, witnesses))
    return figures


def axioms(row: BoardRow, size: BoardSize) -> list[Figure]:
    """Axioms kept of those that apply; one that is broken opens its smallest stream."""
    verdicts = matrix([row.subject(size.limit)], seed=size.seed).verdicts
    parts = {one.axiom: [float(one.verdict not in (BROKEN, AXIOM_ERROR))] for one in verdicts if one.verdict != N_A}
    witnesses = [
        CellWitness(one.axiom, one.why, f"{event_table(one.witness)}\n\n{_alone(one)}" if one.witness else "")
        for one in verdicts
        if one.verdict in (BROKEN, AXIOM_ERROR)
    ]
    return [_count(AXIOMS[0], parts, witnesses)]


def _alone(one: AxiomVerdict) -> str:
    """The witness in the package alone, else in the bench."""
    return replay_code(one)


def _count(metric: Metric, parts: dict[str, list[float]], witnesses: list[CellWitness]) -> Figure:
    keeps = sum(int(values[0]) for values in parts.values())
    value = round(keeps / len(parts), 6) if parts else None
    return Figure(
        metric.name, value, n=len(parts), text=f"{keeps} of {len(parts)}" if parts else "none offered", parts=parts,
        witnesses=witnesses,
    )  # fmt: skip


def prices(row: BoardRow, size: BoardSize) -> list[Figure]:
    """The least claims of a liar, and of the honest; the shortest lie that it believes is the witness."""
    price = price_of(row.subject(size.limit), closed_world(HONEST, most=MOST))
    lie, truth = price.lie_claims, price.truth_claims
    stream = event_table(price.witness)
    streams = [CellWitness("shortest lie", f"{lie} claims", stream)] if lie else []
    return [
        Figure(metric.name, claims and float(claims), n=1, text=str(claims or f"over {MOST}"),
               parts={"claims": [claims and float(claims)]}, witnesses=own)
        for metric, claims, own in zip(PRICES, (lie, truth), (streams, []), strict=True)
    ]  # fmt: skip


def cost(row: BoardRow, size: BoardSize) -> list[Figure]:
    """Milliseconds a call, bytes a claim, and days until a claim can be read."""
    subject = row.subject(size.limit)
    claims = [
        Claim(day + number / 100, f"w{number % WRITERS}", f"o{(number + day) % OBJECTS}", "AB"[number % 2],
              f"o{(number + day) % OBJECTS} is {'AB'[number % 2]}", 0.8)
        for day in range(DAYS) for number in range(OBJECTS)
    ]  # fmt: skip
    objects = [f"o{number}" for number in range(OBJECTS)]
    words = Vocabulary([f"w{number}" for number in range(WRITERS)], objects, [["A", "B"]] * OBJECTS)
    with closing(subject.fresh(words)) as memory:
        before, times = _bytes_of(memory), list(_timed(memory, claims, objects))
        after = _bytes_of(memory)
    growth = None if before is None or after is None or after <= before else round((after - before) / len(claims), 1)
    ms, days = round(1e3 * median(times), 4), _lag(subject)
    return [
        Figure(COST[0].name, ms, n=len(times), text=f"{ms:.3g}"),
        Figure(COST[1].name, growth, n=len(claims), text="not measurable" if growth is None else f"{growth:.0f}"),
        Figure(COST[2].name, days, n=1, text=f"not in {WAIT}" if days is None else f"{days:g}"),
    ]


def _timed(memory: Playable, claims: list[Claim], objects: list[str]) -> Iterator[float]:
    """Seconds of each write and each look; a tick ends each day."""
    for number, claim in enumerate(claims):
        start = time.perf_counter()
        memory.write([claim], claim.time)
        yield time.perf_counter() - start
        if (number + 1) % OBJECTS == 0:
            memory.tick(claim.time + 0.5)
            for name in objects:
                start = time.perf_counter()
                memory.peek(Query(name, f"what is {name}?"), claim.time + 0.5)
                yield time.perf_counter() - start


def _bytes_of(memory: Playable) -> int | None:
    """How long the memory is as it is saved; None where it cannot be; one that lies elsewhere does not grow."""
    state = getattr(memory, "memory", None) or getattr(memory, "_state", None)
    try:
        return len(pickle.dumps(state, protocol=5))
    except Exception:  # noqa: BLE001  # a stranger's object may raise anything when it is saved
        return None


def _lag(subject: Subject) -> float | None:
    """Days from a write to the first look that shows it, a tick a day; None for more than thirty."""
    words = Vocabulary(["w0"], ["o0"], [["A", "B"]])
    with closing(subject.fresh(words)) as memory:
        memory.write([Claim(1.0, "w0", "o0", "A", "o0 is A", 0.8)], 1.0)
        for days in range(WAIT + 1):
            now = 1.0 + days
            if days:
                memory.tick(now)
            try:
                if any(item.get("value") == "A" or "A" in str(item.get("text", "")) for item in memory.peek(
                    Query("o0", "what is o0?"), now)):  # fmt: skip
                    return float(days)
            except MalsimError:
                return None
    return None
