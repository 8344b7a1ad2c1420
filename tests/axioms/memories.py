"""A small sound memory, and one tiny break of it for each axiom."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query

LEADS, TRAILS, TIED = 0.9, 0.1, 0.5


class Sound:
    """The value said last, by the claims' own times, is believed; a tie is a tie."""

    def __init__(self) -> None:
        self.said: dict[str, dict[str, list[Claim]]] = defaultdict(lambda: defaultdict(list))
        self.writes = self.ticks = self.reads = self.peeks = 0
        self.days: set[float] = set()

    def write(self, claims: Sequence[Claim], now: float) -> None:  # noqa: ARG002
        self.writes += 1
        for claim in claims:
            self.said[claim.object][claim.value].append(claim)

    def tick(self, now: float) -> None:
        self.ticks += 1
        self.days.add(now)

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.reads += 1
        return self.items(query.object, now)[:limit]

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.peeks += 1
        return self.items(query.object, now)[:limit]

    def items(self, object_: str, now: float) -> list[dict[str, Any]]:
        values = [(value, self.believed(object_, value, now)) for value in self.said[object_]]
        return [{"id": value, "object": object_, "value": value, "rank": each, "belief": each} for value, each in values]

    def when(self, object_: str, value: str) -> float:
        return max(claim.time for claim in self.said[object_][value])

    def believed(self, object_: str, value: str, now: float) -> float:  # noqa: ARG002
        times = {other: self.when(object_, other) for other in self.said[object_]}
        last = max(times.values())
        if times[value] < last:
            return TRAILS
        return LEADS if list(times.values()).count(last) == 1 else TIED


class RisesWithAge(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        return super().believed(object_, value, now) * (0.5 + 0.5 * now / (now + 100.0))


class OlderFirst(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        when = self.when(object_, value)
        return super().believed(object_, value, now) - 0.05 * when / (when + 100.0)


class Bored(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        return super().believed(object_, value, now) / len(self.said[object_][value])


class Compounds(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        return super().believed(object_, value, now) * 0.99**self.ticks


class CountsSweeps(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        return super().believed(object_, value, now) * 0.99 ** len(self.days)


class LastCallWins(Sound):
    latest = ""

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        self.latest = claims[-1].value if claims else self.latest

    def believed(self, object_: str, value: str, now: float) -> float:
        base = super().believed(object_, value, now)
        return base if base != TIED else TIED + (0.1 if value == self.latest else -0.1)


class ReadIsProof(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        return min(1.0, super().believed(object_, value, now) + 0.01 * self.reads)


class LookIsProof(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        return min(1.0, super().believed(object_, value, now) + 0.01 * self.peeks)


class Crowded(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        full = sum(1 for values in self.said.values() if values)
        return super().believed(object_, value, now) / full


class RivalsSupport(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:  # noqa: ARG002
        return min(1.0, 0.8 + 0.05 * len(self.said[object_]))


class TiresOfCalls(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        return super().believed(object_, value, now) * 0.99**self.writes


class TooSure(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        return 1.2 * super().believed(object_, value, now)


class DropsBoth(Sound):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            rivals = set(self.said[claim.object]) - {claim.value}
            super().write([claim], now)
            if rivals:
                self.said[claim.object].clear()


class NeverReturns(Sound):
    def when(self, object_: str, value: str) -> float:
        return min(claim.time for claim in self.said[object_][value])


class ArrivalOrder(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.order: list[tuple[str, str]] = []

    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        self.order += [(claim.object, claim.value) for claim in claims]

    def when(self, object_: str, value: str) -> float:
        return max(place for place, one in enumerate(self.order) if one == (object_, value))


class CountsVoices(Sound):
    def when(self, object_: str, value: str) -> float:
        return len(self.said[object_][value])


class SweepsAway(Sound):
    def tick(self, now: float) -> None:
        super().tick(now)
        if self.ticks >= 5:
            self.said.clear()


class Unfindable(Sound):
    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return [] if self.ticks > 4 else super().read(query, now, limit)


class Rings(Sound):
    edges = True

    def believed(self, object_: str, value: str, now: float) -> float:
        return super().believed(object_, value, now) * (1.0 if self.ticks % 2 else 0.5)


class EFolding(Sound):
    half_life = 6.0

    def believed(self, object_: str, value: str, now: float) -> float:
        return super().believed(object_, value, now) * math.exp(-(now - self.when(object_, value)) / self.half_life)


class Halves(Sound):
    half_life = 6.0

    def believed(self, object_: str, value: str, now: float) -> float:
        return super().believed(object_, value, now) * math.exp2(-(now - self.when(object_, value)) / self.half_life)


class Shy(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:
        return 0.4 * super().believed(object_, value, now)


class BelievesAll(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:  # noqa: ARG002
        return LEADS


class Unmoved(Sound):
    edges = True


class DefenceHurts(Sound):
    edges = True

    def believed(self, object_: str, value: str, now: float) -> float:
        return super().believed(object_, value, now) / len(self.said[object_])


class HeedsTalkers(Sound):
    def believed(self, object_: str, value: str, now: float) -> float:  # noqa: ARG002
        talk = {each: self.talk(object_, each) for each in self.said[object_]}
        return talk[value] / sum(talk.values())

    def talk(self, object_: str, value: str) -> int:
        writers = {claim.writer for claim in self.said[object_][value]}
        return sum(claim.writer in writers for known in self.said.values() for each in known.values() for claim in each)


PLANTED: dict[str, type[Sound]] = {
    "monotone-age": RisesWithAge,
    "newer-not-below-older": OlderFirst,
    "reinforcement": Bored,
    "anchor": Compounds,
    "cadence": CountsSweeps,
    "batching": LastCallWins,
    "read-idempotence": ReadIsProof,
    "own-facts": HeedsTalkers,
    "peek": LookIsProof,
    "locality": Crowded,
    "polarity": RivalsSupport,
    "neutral": TiresOfCalls,
    "bounds": TooSure,
    "total-evidence": DropsBoth,
    "truth-may-return": NeverReturns,
    "late-arrival": ArrivalOrder,
    "echo-independence": CountsVoices,
    "survival-floor": SweepsAway,
    "reachability": Unfindable,
    "settling": Rings,
    "half-life-halves": EFolding,
    "vacuity": Crowded,
    "success": Shy,
    "consistency": BelievesAll,
    "derived-falls": Unmoved,
    "loop-polarity": DefenceHurts,
}
