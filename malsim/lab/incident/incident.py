"""Find the claims of a log that decide a wrong answer, and the smallest part of the log that still gives it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import UsageError, nearest
from malsim.judging.shrink import smallest_part
from malsim.lab.incident.question import LogPlayer, WrongAnswer, WrongCell, last, worth_of
from malsim.laws import find_law
from malsim.sim.settings.scenario import GRAPHS, Scenario
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.adapters.engine.adapter import Adapter
    from malsim.lab.incident.claim_log import ClaimLog
    from malsim.lab.incident.question import Question

CURES = ("majority", "records", "last_write")
LAWS = ("mal", "majority", "last_write", "records")
TICKS = 10
AGAIN = 10  # replays that say whether a memory is deterministic
MOST = 3  # replays of each part where they do not agree
MOVED = 0.02


@dataclass
class Incident:
    """Question about a log, and `rows`, the smallest part of the log that shows the same.

    `law` is the memory's name, `cures` the laws that answer the rival on the whole log and on the part. `agreed` counts the
    replays of ten that showed the incident on the whole log. `replays` counts the runs that were made.
    """

    log: ClaimLog
    player: LogPlayer
    question: Question
    law: str
    rows: list[int] = field(default_factory=list)
    cures: tuple[str, ...] = ()
    agreed: int = AGAIN
    replays: int = 0
    named: bool = False

    def shows(self, rows: list[int]) -> bool:
        """Return whether a part shows the incident, and answers rightly without the wrong claims and under each cure."""
        if not self._plays(rows):
            return False
        if isinstance(self.question, WrongAnswer) and self.question.rival:
            others = _others(self.log, rows, self.question)
            if len(others) == len(rows) or not self.cured(others, None):
                return False
        return all(self.cured(rows, law) for law in self.cures)

    def _plays(self, rows: list[int]) -> bool:
        """Return whether a part shows the incident; for a memory that is not deterministic, in most of three replays."""
        return self.agreeing(rows, 1 if self.agreed == AGAIN else MOST) > (self.agreed < AGAIN) * (MOST // 2)

    def agreeing(self, rows: list[int], replays: int) -> int:
        self.replays += replays
        return sum(self.question.shows(self.player.run(rows, self.question)) for _ in range(replays))

    def cured(self, rows: list[int], law: str | None) -> bool:
        """Return whether a part gives the rival answer, under another law if given."""
        self.replays += 1
        run = self.player.run(rows, self.question, law) if rows else None
        return run is not None and isinstance(self.question, WrongAnswer) and self.question.cured(run)


def find(
    log: ClaimLog,
    *,
    cell: str | None = None,
    answer: str | None = None,
    law: str | None = None,
    memory: Adapter | None = None,
) -> Incident:
    """Reduce a log to the smallest part with the same wrong answer (`OBJECT=VALUE`), or the same change of a cell's worth.

    Each part is replayed under the same memory: `memory`, `law`, or the first of `LAWS` that gives the answer on the whole
    log. A part keeps the incident if its other claims alone are answered with the rival, as those of the whole log are, and
    if every law of `CURES` that answers the rival on the whole log does so on the part.

    Raises
    ------
    UsageError
        For a cell or object that the log does not have, and an answer that the memory does not give.
    """
    everything = list(range(log.claims.height))
    incident = _incident(log, everything, cell, answer, law, memory)
    if memory:
        incident.agreed = incident.agreeing(everything, AGAIN)
    if isinstance(incident.question, WrongAnswer) and incident.question.rival:
        incident.cures = tuple(name for name in CURES if name != incident.law and incident.cured(everything, name))
    incident.rows = smallest_part(_narrowed(incident, everything), incident.shows)
    return incident


def _incident(
    log: ClaimLog, rows: list[int], cell: str | None, answer: str | None, law: str | None, memory: Adapter | None
) -> Incident:
    """Return the incident under the first law that gives the answer, or under the memory if one of ten replays gives it."""
    tried: dict[str, str] = {}
    for name in [law] if law or memory else _laws(log):
        player = LogPlayer(log, _base(log, name, memory))
        for _ in range(AGAIN if memory else 1):
            question, answers = _question(player, rows, cell, answer)
            if question is not None:
                return Incident(log, player, question, player.base.law, named=bool(law or memory))
        tried[player.base.law] = answers
    given = "; ".join(f"{name}: {answers}" for name, answers in tried.items())
    hint = "name the law that gave it with --law, or the memory with --memory"
    raise UsageError(f"no replay of the whole log gives {answer or cell}", where="--from", given=given, hint=hint)


def _laws(log: ClaimLog) -> list[str]:
    return [name for name in LAWS if name != "mal" or log.edges is not None or not log.unstated]


def _base(log: ClaimLog, law: str | None, memory: Adapter | None) -> Scenario:
    """Return the scenario without claims: at most ten ticks, the last of them after the last claim."""
    span = max(log.claims["t"].to_list())
    every = max(1, -(-(span + 1) // (DAY * TICKS)))  # days
    days = every * (span // (DAY * every) + 1)
    scenario = Scenario(name="incident", why="an incident", days=float(days), turn_every=every * DAY)
    if memory:
        return scenario.replace(adapter=memory)
    return scenario.replace(law=find_law(law or "mal", where="--law").name)


def _question(player: LogPlayer, rows: list[int], cell: str | None, answer: str | None) -> tuple[Question | None, str]:
    """Return the question about the wrong answer, or None and what the memory answers instead."""
    claims = player.log.claims
    if answer is not None:
        object_, equals, value = answer.partition("=")
        objects = claims["object"].drop_nulls().unique(maintain_order=True).to_list()
        if not equals or object_ not in objects:
            raise UsageError("the log has no claim about this object", where="--answer", given=answer,
                             hint=nearest(object_, objects, "write OBJECT=VALUE"))  # fmt: skip
        return _wrong_answer(player, rows, object_, wrong=value)
    handles, keys = (claims[name].cast(pl.String).to_list() for name in ("handle", "key"))
    if cell not in handles and cell in keys:
        cell = handles[keys.index(cell)]
    if cell not in handles:
        hint = nearest(str(cell), handles, "name a handle of a store, an item of a log, or a line's number of a claims file")
        raise UsageError("the log has no such cell", where="--cell", given=cell, hint=hint)
    index = handles.index(cell)
    if player.base.law in GRAPHS and not player.base.adapter:
        moved = _of_cell(player, rows, index)
        if moved is not None:
            return moved, ""
    object_, value = claims.row(index, named=True)["object"], claims["title"][index]
    if object_ is None:
        return None, "the cell is worth what it states"
    return _wrong_answer(player, rows, object_, value=value)


def _of_cell(player: LogPlayer, rows: list[int], place: int) -> Question | None:
    """Return the question about a cell that has ended, or that is worth more or less than alone; None for any other cell."""
    cell = WrongCell(player.log.claims["handle"][place])
    now, status = worth_of(player.run(rows, cell), cell.handle)
    if status not in (None, "active"):
        return replace(cell, status=str(status))
    alone, _ = worth_of(player.run([place], cell), cell.handle)
    if now is None or alone is None or abs(now - alone) < MOVED:
        return None
    return replace(cell, level=round((now + alone) / 2, 3), falls=now < alone)


def _wrong_answer(
    player: LogPlayer, rows: list[int], object_: str, *, wrong: str = "", value: str = ""
) -> tuple[Question | None, str]:
    """Return the question whether the object is answered with `wrong`, or with another value than `value`."""
    claims = player.log.claims
    about = claims.filter(claims["object"] == object_)
    counts = Counter(about["title"].to_list())
    values = tuple(sorted(counts, key=lambda each: (-counts[each], each)))
    plain = WrongAnswer(object_, values[0], values[1] if len(values) > 1 else "", values)
    answers, tied = _leading(player, rows, plain)
    wrong = wrong or (value if answers == value else answers)
    if not answers or (answers != wrong and not (tied and wrong in values)):
        return None, "a tie" if tied else f"it answers {answers}" if answers else "no answer"
    question = replace(plain, wrong=wrong, rival="", tied=tied)
    rest = _others(player.log, rows, question)
    rival = value if value not in ("", wrong) else _leading(player, rest, plain)[0] if rest else ""
    return replace(question, rival="" if rival == wrong else rival), ""


def _leading(player: LogPlayer, rows: list[int], question: WrongAnswer) -> tuple[str, bool]:
    right, answer = last(player.run(rows, question), question.object)
    labels = [str(value) for value in question.facts[0].values]
    if answer is not None:
        return (labels[int(answer)] if answer < len(labels) else ""), False
    return (labels[0], True) if right is not None else ("", False)


def _others(log: ClaimLog, rows: list[int], question: WrongAnswer) -> list[int]:
    """Return the rows without the claims of the wrong value about the object."""
    objects, titles = log.claims["object"], log.claims["title"]
    return [row for row in rows if objects[row] != question.object or titles[row] != question.wrong]


def _narrowed(incident: Incident, rows: list[int]) -> list[int]:
    """Return the first part that shows the incident: claims about its object, then also of the same writers, then all."""
    claims, question = incident.log.claims, incident.question
    object_ = question.object if isinstance(question, WrongAnswer) else None
    if isinstance(question, WrongCell):
        object_ = claims.filter(pl.col("handle") == question.handle)["object"][0]
    about = claims["object"].eq_missing(object_)
    theirs = claims["writer"].is_in(claims.filter(about)["writer"].implode())
    parts = (mask.arg_true().to_list() for mask in (about, about | theirs))
    part = next((part for part in (*parts, rows) if incident.shows(part)), None)
    if part is None:
        hint = "a memory that answers by chance is reduced only where most replays agree"
        given = f"{len(rows)} claims"
        raise UsageError("a second replay of the whole log does not show this", where="--from", given=given, hint=hint)
    return part
