"""Reduction of a log to the claims that cause a wrong answer."""

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
AGAIN = 10  # number of replays that test whether a memory is deterministic
MOST = 3  # number of replays of each part if the memory is not deterministic
MOVED = 0.02


@dataclass
class Incident:
    """Incident: the wrong answer or wrong cell (`question`), and the smallest part of a log that reproduces it (`rows`).

    `law` is the name of the memory. `cures` are the laws that return the rival answer both on the whole log and on the
    part. `agreed` is the number of the ten replays of the whole log that showed the incident. `replays` counts all runs.
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
        """Return whether a part shows the incident, but not without the wrong claims and not under the laws in `cures`.

        A memory that is not deterministic must show the incident in at least two of three replays.
        """
        replays = 1 if self.agreed == AGAIN else MOST
        if self.agreeing(rows, replays) <= replays // 2:
            return False
        if isinstance(self.question, WrongAnswer) and self.question.rival:
            others = _others(self.log, rows, self.question)
            if len(others) == len(rows) or not self.cured(others, None):
                return False
        return all(self.cured(rows, law) for law in self.cures)

    def agreeing(self, rows: list[int], replays: int) -> int:
        self.replays += replays
        return sum(self.question.shows(self.player.run(rows, self.question)) for _ in range(replays))

    def cured(self, rows: list[int], law: str | None) -> bool:
        """Return whether a part gives the rival answer, under another law if one is given."""
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
    """Find the smallest part of a log that reproduces a wrong answer (`OBJECT=VALUE`) or a change of a cell.

    Every part is replayed with the same memory: `memory`, `law`, or the first of `LAWS` that returns the answer on the
    whole log. A part counts only if it leads to the rival answer (see `question.WrongAnswer`) without the wrong claims, and
    under every law of `CURES` that returns that answer on the whole log.

    Raises
    ------
    UsageError
        If the log does not have the cell or object, or the memory does not return the answer.
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
    """Return the incident under the first law that reproduces it. With `memory`, one of up to ten replays must."""
    tried: dict[str, str] = {}
    usable = [name for name in LAWS if name != "mal" or log.edges is not None or not log.unstated]
    for name in [law] if law or memory else usable:
        player = LogPlayer(log, _base(log, name, memory))
        for _ in range(AGAIN if memory else 1):
            question, answers = _question(player, rows, cell, answer)
            if question is not None:
                return Incident(log, player, question, player.base.law, named=bool(law or memory))
        tried[player.base.law] = answers
    given = "; ".join(f"{name}: {answers}" for name, answers in tried.items())
    hint = "use --law or --memory to name the memory that gave this answer"
    effect = f"gives {answer}" if answer else f"changes {cell}"
    raise UsageError(f"no replay of the entire log {effect}", where="--from", given=given, hint=hint)


def _base(log: ClaimLog, law: str | None, memory: Adapter | None) -> Scenario:
    """Return the scenario without claims. It has at most ten ticks, the last of them after the last claim."""
    span = max(log.claims["t"].to_list())
    every = max(1, -(-(span + 1) // (DAY * TICKS)))  # interval between ticks, in days
    days = every * (span // (DAY * every) + 1)
    scenario = Scenario(name="incident", why="an incident", days=float(days), turn_every=every * DAY)
    if memory:
        return scenario.replace(adapter=memory)
    return scenario.replace(law=find_law(law or "mal", where="--law").name)


def _question(player: LogPlayer, rows: list[int], cell: str | None, answer: str | None) -> tuple[Question | None, str]:
    """Return (question, "") if the replay reproduces the incident, otherwise (None, a description of the actual answer)."""
    claims = player.log.claims
    if answer is not None:
        object_, equals, value = answer.partition("=")
        objects = claims["object"].drop_nulls().unique(maintain_order=True).to_list()
        if not equals or object_ not in objects:
            hint = nearest(object_, objects) if equals else ""
            problem = "the log has no claim about this object" if equals else "not of the form OBJECT=VALUE"
            raise UsageError(problem, where="--answer", given=answer, hint=hint)
        return _wrong_answer(player, rows, object_, wrong=value)
    handles, keys = (claims[name].cast(pl.String).to_list() for name in ("handle", "key"))
    if cell not in handles and cell in keys:
        cell = handles[keys.index(cell)]
    if cell not in handles:
        hint = nearest(str(cell), handles, "use a handle of a store, an item of a log, or a line number of a claims file")
        raise UsageError("no such cell", where="--cell", given=cell, hint=hint)
    row = handles.index(cell)
    if player.base.law in GRAPHS and not player.base.adapter:
        moved = _moved_cell(player, rows, row)
        if moved is not None:
            return moved, ""
    object_, value = claims["object"][row], claims["title"][row]
    if object_ is None:
        return None, "other claims do not change the cell"
    return _wrong_answer(player, rows, object_, value=value)


def _moved_cell(player: LogPlayer, rows: list[int], row: int) -> Question | None:
    """Return the question about a cell that is inactive or noticeably raised or lowered by other claims, otherwise None."""
    cell = WrongCell(player.log.claims["handle"][row])
    now, status = worth_of(player.run(rows, cell), cell.handle)
    if status not in (None, "active"):
        return replace(cell, status=str(status))
    alone, _ = worth_of(player.run([row], cell), cell.handle)
    if now is None or alone is None or abs(now - alone) < MOVED:
        return None
    return replace(cell, level=round((now + alone) / 2, 3), falls=now < alone)


def _wrong_answer(
    player: LogPlayer, rows: list[int], object_: str, *, wrong: str = "", value: str = ""
) -> tuple[Question | None, str]:
    """Return (question, "") if the answer is `wrong` (by default any answer), otherwise (None, a description)."""
    claims = player.log.claims
    counts = Counter(claims.filter(claims["object"] == object_)["title"].to_list())
    values = tuple(sorted(counts, key=lambda title: (-counts[title], title)))
    plain = WrongAnswer(object_, values[0], values[1] if len(values) > 1 else "", values)
    answer, tied = _leading(player, rows, plain)
    wrong = wrong or (value if answer == value else answer)
    if not answer or (answer != wrong and not (tied and wrong in values)):
        return None, "a tie" if tied else f"answers {answer}" if answer else "no answer"
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
    """Return the rows of all claims except those that give the object the wrong value."""
    objects, titles = log.claims["object"], log.claims["title"]
    return [row for row in rows if objects[row] != question.object or titles[row] != question.wrong]


def _narrowed(incident: Incident, rows: list[int]) -> list[int]:
    """Return the first part that shows the incident: claims about its object, all claims by their writers, or all claims."""
    claims, question = incident.log.claims, incident.question
    object_ = question.object if isinstance(question, WrongAnswer) else None
    if isinstance(question, WrongCell):
        object_ = claims.filter(pl.col("handle") == question.handle)["object"][0]
    about = claims["object"].eq_missing(object_)
    theirs = claims["writer"].is_in(claims.filter(about)["writer"].implode())
    parts = (mask.arg_true().to_list() for mask in (about, about | theirs))
    part = next((part for part in (*parts, rows) if incident.shows(part)), None)
    if part is None:
        problem, hint = (
            "a second replay of the entire log does not show the incident",
            "use a memory whose replays mostly agree",
        )
        raise UsageError(problem, where="--from", given=f"{len(rows)} claims", hint=hint)
    return part
