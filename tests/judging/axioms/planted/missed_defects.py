"""Defects by writers who had not seen the axioms; the axioms of that day missed them, or found them by luck."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.judging.axioms.planted.sound import SURE, Doubts, Halves, Records, Sound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query


class AsciiOnly(Sound):
    """Values are compared without what is not ASCII."""

    axiom = "names"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            plain = claim.value.encode("ascii", "ignore")
            known = [item.value for item in self.about(claim.object) if item.value.encode("ascii", "ignore") == plain]
            super().write([replace(claim, value=known[0] if known else claim.value)], now)


class ThingsCut(Sound):
    """Things are known by their first twelve letters."""

    axiom = "names"

    def about(self, name: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.object[:12] == name[:12]]


class Midnight(Sound):
    """What arrives in the last hour of a day is lost at the next day's sweep."""

    axiom = "calendar"
    late: tuple[Claim, ...] = ()

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        self.late += tuple(claims) if now % 1.0 >= 23.0 / 24.0 else ()

    def tick(self, now: float) -> None:
        self.claims = [item for item in self.claims if item not in self.late or math.floor(item.time) == math.floor(now)]


class OnceADay(Sound):
    """Of one day a writer's first word about a thing is kept."""

    axiom = "last-word"

    def about(self, name: str) -> list[Claim]:
        return [*{(item.writer, math.floor(item.time)): item for item in reversed(super().about(name))}.values()]


class LateEnds(Sound):
    """A claim dated before the newest one ends that, and does not take its place."""

    axiom = "late-arrival"

    def scores(self, about: str, now: float) -> dict[str, float]:
        own, scores = self.about(about), super().scores(about, now)
        if len(own) > 1 and own[-1].time < own[-2].time and own[-1].value != own[-2].value:
            del scores[own[-2].value]
        return scores


class LateAges(Halves):
    """An agreement of an earlier day, arriving late, sets the date back."""

    axiom = "late-arrival"

    def scores(self, about: str, now: float) -> dict[str, float]:
        dates = {claim.value: claim.time for claim in self.about(about)}
        scores = Sound.scores(self, about, now)
        return {value: score * math.exp2(-(now - dates[value]) / self.half_life) for value, score in scores.items()}


class OnePercent(Doubts):
    """A confidence of 1 is taken for one in a hundred."""

    axiom = "stated"

    def weight(self, claim: Claim, now: float) -> float:
        return 0.8 + 0.2 * ((claim.stated or 0.0) if claim.stated != 1.0 else 0.01)


class Timid(Doubts):
    """A value is believed as surely as the least sure of its voices says."""

    axiom = "reinforcement"

    def scores(self, about: str, now: float) -> dict[str, float]:
        least = {
            claim.value: claim.stated or 0.0 for claim in sorted(self.about(about), key=lambda one: -(one.stated or 0.0))
        }
        return {value: score * (0.7 + 0.3 * least[value]) for value, score in super().scores(about, now).items()}


class Wraps(Sound):
    """Votes are counted in four bits."""

    axiom = "outvoted"

    def weights(self, about: str, now: float) -> dict[str, float]:
        return {value: weight % 16.0 for value, weight in super().weights(about, now).items()}


class LeaderCut(Sound):
    """Three values of a thing are kept, the weakest, since they were sorted the wrong way."""

    axiom = "outvoted"

    def scores(self, about: str, now: float) -> dict[str, float]:
        return dict(sorted(super().scores(about, now).items(), key=lambda pair: pair[1])[:3])


class AgainstOne(Sound):
    """A value is held against its strongest rival alone: of three, each may be believed nearly a half."""

    axiom = "consistency"

    def scores(self, about: str, now: float) -> dict[str, float]:
        weights = self.weights(about, now)
        most = {value: max([0.0, *(weights[other] for other in weights if other != value)]) for value in weights}
        return {value: SURE * weight / (weight + most[value] or 1.0) for value, weight in weights.items()}


class LookPrunes(Sound):
    """A look throws away what has less than a third."""

    axiom = "peek"

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        items = super().peek(query, now, limit)
        weak = [item["value"] for item in items if item["rank"] < SURE / 3.0 - 0.01]
        self.claims = [entry for entry in self.claims if entry.object != query.object or entry.value not in weak]
        return items


class KeepsTwo(Sound):
    """A read keeps the two best values and deletes the others."""

    axiom = "read-idempotence"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        items = super().read(query, now, limit)[:2]
        best = [item["value"] for item in items]
        self.claims = [entry for entry in self.claims if entry.object != query.object or entry.value in best]
        return items


class TouchesAll(Halves):
    """A read of one thing keeps all things longer."""

    axiom = "locality"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.half_life *= 1.5
        return super().read(query, now, limit)


class HelpsTheLoser(Sound):
    """A read strengthens the last of its items."""

    axiom = "read-keeps-lead"

    def __init__(self) -> None:
        super().__init__()
        self.helped: Counter[tuple[str, str]] = Counter()

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        items = super().read(query, now, limit)
        self.helped.update((query.object, item["value"]) for item in items[-1:])
        return items

    def weights(self, about: str, now: float) -> dict[str, float]:
        return {value: item + 0.9 * self.helped[about, value] for value, item in super().weights(about, now).items()}


class ReadDates(Sound):
    """A read dates what it shows anew, so that news that arrives late loses."""

    axiom = "read-keeps-lead"

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.claims = [replace(item, time=now) if item.object == query.object else item for item in self.claims]
        return super().read(query, now, limit)


class WeeklyEcho(Sound):
    """A repetition counts again where the last one is a week old."""

    axiom = "echo-independence"

    def weights(self, about: str, now: float) -> dict[str, float]:
        weeks = Counter((item.value, item.writer, int(item.time // 7.0)) for item in self.about(about))
        own = Counter(value for value, _, _ in weeks)
        return {value: weight and weight + own[value] for value, weight in super().weights(about, now).items()}


class NewsCapped(Sound):
    """What comes half a year after the first claim about a thing is no newer than that."""

    axiom = "long-history"

    def about(self, name: str) -> list[Claim]:
        own = super().about(name)
        first = min([one.time for one in own], default=0.0)
        last = {one.writer: one for one in sorted(own, key=lambda one: one.time)}
        return [replace(one, time=min(one.time, first + 180.0)) for one in last.values()]


class ThreeChanges(Sound):
    """The fourth change of a writer's mind is not taken."""

    axiom = "long-history"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            own = {item.value for item in self.about(claim.object) if item.writer == claim.writer}
            if len(own | {claim.value}) <= 3:
                super().write([claim], now)


class Frozen(Records):
    """A record is closed after three things: who turns to lying keeps a good name."""

    axiom = "track-record"

    def judged(self, writer: str, besides: str) -> list[bool]:
        return super().judged(writer, besides)[:3]


class DissentIsError(Records):
    """Of a thing on which not all agree all are wrong: one liar spoils every record."""

    axiom = "track-record"

    def judged(self, writer: str, besides: str) -> list[bool]:
        names = {claim.object for claim in self.claims if claim.writer == writer and claim.object != besides}
        return [len({claim.value for claim in self.about(name)}) == 1 for name in names]


class PageShares(Sound):
    """A value's share is of the items that are asked for."""

    axiom = "limit"

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        page = super().peek(query, now, limit)
        whole = sum(item["rank"] for item in page) or 1.0
        return [{**item, "rank": item["rank"] / whole, "belief": item["rank"] / whole} for item in page]


class FirstSaid(Sound):
    """A word is forgotten sixty days after its writer first gave it, however often it is repeated."""

    axiom = "earlier-support"

    def weight(self, claim: Claim, now: float) -> float:
        own = [item.time for item in self.about(claim.object) if (item.writer, item.value) == (claim.writer, claim.value)]
        return 1.0 if now - min(own) <= 60.0 else 0.0


class SweepsAll(Sound):
    """A sweep that finds one word older than sixty days about a thing deletes all about it."""

    axiom = "earlier-support"

    def tick(self, now: float) -> None:
        old = {claim.object for claim in self.claims if now - claim.time > 60.0}
        self.claims = [claim for claim in self.claims if claim.object not in old]


class Watermark(Sound):
    """A claim dated before the newest that was seen, about whatever thing, is dropped."""

    axiom = "locality"

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            if claim.time >= max((item.time for item in self.claims), default=claim.time):
                super().write([claim], now)
