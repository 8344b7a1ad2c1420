"""Hooks of a reader's turn. They always run, in the same order, even if the reader's work raises an exception."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import Memory, admit
from malsim.memory.graph.frames import LazyRows
from malsim.memory.graph.replicate import replicated
from malsim.memory.push.ten_cells import MAP, ten_cells
from malsim.sim.context.turn import Turn
from malsim.sim.writers.engine.claim_batch import ClaimBatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.sim.agent.netlist_runner import NetlistRunner
    from malsim.sim.context.event_log import EventLog
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn import TurnCounters
    from malsim.sim.settings.reader import Reader
    from malsim.sim.settings.scenario import Scenario


def orient(memory: Memory, scenario: Scenario, now: float, log: EventLog) -> Memory:
    if not memory.height:
        memory = _with_ten_cells(memory, scenario, now)
        log.every("bootstrapped", now, MAP, "ten cells", "the graph was empty")
    orient_reader(now, log)
    return memory


def orient_reader(now: float, log: EventLog) -> None:
    log.every("oriented", now, MAP, "the map cell and a digest", "a session begins")


def _with_ten_cells(memory: Memory, scenario: Scenario, now: float) -> Memory:
    reps = np.arange(scenario.first, scenario.first + scenario.replications)
    if memory.table("writers").height:
        claims = ten_cells(t=now).drop("rep").join(pl.DataFrame({"rep": reps}), how="cross")
        return admit(memory, claims, scenario.rules).memory
    single = admit(Memory.empty(), ten_cells(t=now), scenario.rules).memory
    copies = replicated(single, reps.tolist())
    # sort by cell, then by replication, because the gate would admit the cells in this order
    order = np.arange(copies.height).reshape(len(reps), -1).T.ravel()
    cells, edges, writers = (LazyRows.of(table) for table in (copies.cells[order], copies.edges, copies.writers))
    return memory.append(cells, edges, writers, [*single.cells["handle"], *single.cells["key"]])


def push(
    snapshot: Snapshot, reader: Reader, fact: Ints, number: int, now: float, counters: TurnCounters, log: EventLog,
    netlist: NetlistRunner | None = None,
) -> Turn:  # fmt: skip
    """Push a mini-index about the reader's fact to each reader, within the reader's word budget, and return the new turn.

    The netlist may set each reader's word budget; where it sets none, or NaN, the reader's own budget applies. Remaining
    words are used for the lines of surfaced signals.
    """
    budget, surfaced = (netlist.outputs.get("push.budget"), netlist.surfaced) if netlist else (None, None)
    words = reader.budget_words if budget is None else np.where(np.isnan(budget), reader.budget_words, budget)
    pushed = snapshot.push(np.arange(len(fact)), fact, now, limit=int(reader.limit), budget=words, rank_by=reader.rank_by)
    lines = surfaced.within(words - pushed.words) if surfaced else None
    turn = Turn(number, now, fact, pushed, surfaced=lines)
    counters.begin()
    counters.add("words", pushed.words + (lines.cost if lines else 0))
    counters.add("demand", pushed.demand + (surfaced.cost if surfaced else 0))
    log.pushed(turn)
    return turn


def stop(
    turn: Turn, again: Callable[[Bools, int], None], write: Callable[[], ClaimBatch], *, attempts: int,
    counters: TurnCounters, log: EventLog,
) -> ClaimBatch:  # fmt: skip
    """Release each replication's actions if all lines marked `^` were opened, all lessons written and all checks passed.

    Refused turns are retried with `again(mask, attempt)`, at most `attempts` times, and then given up: their actions do not
    count. No turn is released if the work, a retry or the writing raises an exception.
    """
    log.opened(turn, turn.name)
    done, turn.worked = turn.worked, False
    lessons = ClaimBatch.none()
    try:
        if done:
            turn.released = ~_retry(turn, again, attempts, counters, log)
            lessons = write()
        turn.worked = done
    finally:
        log.opened(turn, f"{turn.name} was blocked")
        if not turn.worked:
            turn.released = np.zeros(len(turn.released), dtype=bool)
            _block(turn, ~turn.released, counters)
            log.refused(turn, np.arange(len(turn.released)), "its work broke off", turn.name)
        _withhold(turn, ~turn.released, counters, log)
    return lessons


def _retry(turn: Turn, again: Callable[[Bools, int], None], attempts: int, counters: TurnCounters, log: EventLog) -> Bools:
    closed, unwritten, unsound = turn.closed, turn.unwritten, turn.unsound
    for attempt in range(attempts):
        blocked = closed | unwritten | unsound
        if not blocked.any():
            break
        _block(turn, blocked, counters)
        log.blocked(turn, closed, unwritten)
        again(blocked, attempt)
        closed, unwritten, unsound = turn.closed, turn.unwritten, turn.unsound
    return closed | unwritten | unsound


def gate(turn: Turn, refused: Bools, *, counters: TurnCounters, log: EventLog) -> None:
    if refused.any():
        _block(turn, refused, counters)
        cause = f"claim {turn.number} of {log.writers[0]}"
        log.refused(turn, np.flatnonzero(refused), "the gate refused what was to be written back", cause)
        turn.wrote, turn.released = turn.wrote & ~refused, turn.released & ~refused
        _withhold(turn, refused, counters, log)


def _block(turn: Turn, blocked: Bools, counters: TurnCounters) -> None:
    counters.add("blocks", blocked)
    counters.add("blocked", blocked & ~turn.blocked)
    turn.blocked |= blocked


def _withhold(turn: Turn, withheld: Bools, counters: TurnCounters, log: EventLog) -> None:
    if withheld.any():
        counters.add("withheld", withheld)
        log.withheld(turn, withheld)
