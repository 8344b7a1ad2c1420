"""Fill a prompt within a budget: hard slots first, then items by their order and caps, with a reason for each.

A thin pack is searched again with wider limits. If its items are similar, λ is moved towards diversity. ARW's code moves
λ the other way (`Coverage(shipped=True)`), which reduces diversity where it is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from malsim.base.errors import UsageError
from malsim.records.fusion import Fusion

HARD = ("instructions", "safety", "reserved")
TokenCounter: TypeAlias = "Callable[[str], int]"
Packer: TypeAlias = "Callable[[Sequence[Decision], PackBudget, int], Sequence[Decision]]"


def quarter_of_letters(text: str) -> int:
    """Return one token for every four letters, rounded up: an estimate when the model's counter is missing.

    >>> quarter_of_letters("five!"), quarter_of_letters("")
    (2, 0)
    """
    return -(-len(text) // 4)


@dataclass(frozen=True)
class PackBudget:
    """Largest number of tokens of a pack, and largest number of items by kind. A kind without a cap is unlimited.

    Raises `UsageError` for a count below 0.
    """

    max_tokens: int
    per_kind_caps: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, count in {"max_tokens": self.max_tokens, **self.per_kind_caps}.items():
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                raise UsageError("not a count", where=f"budget.{name}", given=count, allowed="0, 1, 2 …")


@dataclass(frozen=True)
class Coverage:
    """Rule for repeating a search: a pack below `fill` of its tokens is thin; `rounds` searches at most."""

    fill: float = 0.5
    rounds: int = 3
    alike: float = 0.8
    step: float = 0.1
    shipped: bool = False


@dataclass(frozen=True)
class Decision:
    """Decision on one item: the numbers that led to it, the cost, and the slot or the reason for dropping the item."""

    id: str
    kind: str
    text: str
    durability: str
    lexical_rank: int
    vector_rank: int
    fused: float
    recency: float
    trust: float
    pinned: bool
    relevance: float
    similar: float
    score: float
    tokens: int = 0
    slot: str | None = None
    dropped: str | None = None

    @property
    def trace(self) -> dict[str, Any]:
        """Decision without the text, as JSON values. `mmr` is the verdict of diversity."""
        values = {name: value for name, value in vars(self).items() if name != "text"}
        return values | {"mmr": "dropped" if (self.dropped or "").startswith("near") else "retained"}


@dataclass(frozen=True)
class Pack:
    """Decisions in order, the texts in the slots, and their cost in tokens."""

    decisions: tuple[Decision, ...]
    hard: tuple[tuple[str, str], ...]
    tokens: int
    rounds: int = 1
    mmr: float = 0.5

    @property
    def items(self) -> tuple[Decision, ...]:
        """Decisions on the items that are in the pack."""
        return tuple(decision for decision in self.decisions if decision.slot)

    @property
    def text(self) -> str:
        """Hard slots and items, one line each."""
        return "".join(f"{text}\n" for text in [*(text for _, text in self.hard), *(item.text for item in self.items)])


def greedy(candidates: Sequence[Decision], budget: PackBudget, left: int) -> list[Decision]:
    """Pack each candidate in order if its kind's cap and the remaining tokens allow. This is the default packer."""
    counts, decisions = Counter[str](), list[Decision]()
    for item in candidates:
        if counts[item.kind] >= budget.per_kind_caps.get(item.kind, len(candidates)):
            decisions.append(replace(item, dropped=f"its kind's cap of {budget.per_kind_caps[item.kind]} is reached"))
        elif item.tokens > left:
            decisions.append(replace(item, dropped=f"over budget: {item.tokens} tokens, {left} left"))
        else:
            counts[item.kind] += 1
            left -= item.tokens
            decisions.append(replace(item, slot=f"{item.kind}:{counts[item.kind]}"))
    return decisions


def fill(
    ranked: Sequence[Decision],
    budget: PackBudget,
    hard: Mapping[str, Sequence[str]] | None = None,
    *,
    count: TokenCounter = quarter_of_letters,
    packer: Packer = greedy,
    near: float = 0.98,
) -> Pack:
    """Build a pack from ranked items.

    Ephemeral items and near copies (a cosine of `near` with an item before) are no candidates. Raises `UsageError` where the
    hard slots alone are over the budget, and where a packer of the user's own is.
    """
    slots = _hard(hard or {})
    spent = sum(count(f"{text}\n") for _, text in slots)
    if spent > budget.max_tokens:
        raise UsageError(
            "the hard slots are over the budget", where="budget.max_tokens", given=budget.max_tokens, allowed=f"≥ {spent}"
        )
    candidates = [replace(item, tokens=count(f"{item.text}\n"), dropped=_no_candidate(item, near)) for item in ranked]
    admissible = [item for item in candidates if not item.dropped]
    by_id = {item.id: item for item in packer(admissible, budget, budget.max_tokens - spent)}
    decisions = tuple(by_id.get(item.id, item if item.dropped else replace(item, dropped="left out")) for item in candidates)
    inside = [item for item in decisions if item.slot]
    pack = Pack(decisions, slots, spent + sum(item.tokens for item in inside))
    kinds = Counter(item.kind for item in inside)
    over = [kind for kind, most in budget.per_kind_caps.items() if kinds[kind] > most]
    if pack.tokens > budget.max_tokens or over:
        raise UsageError("the packer went over the budget", where="packer", given=over or pack.tokens)
    return pack


def widen(pack: Pack, fusion: Fusion, coverage: Coverage, *, max_tokens: int) -> Fusion | None:
    """Return the settings of the next round, or None if the pack is not thin or the rounds are used up."""
    if pack.rounds >= coverage.rounds or pack.tokens >= coverage.fill * max_tokens:
        return None
    alike = [item.similar for item in pack.items[1:]]
    mmr = fusion.mmr
    if alike and sum(alike) / len(alike) > coverage.alike:
        mmr += coverage.step if coverage.shipped else -coverage.step
    return replace(
        fusion, lexical_limit=2 * fusion.lexical_limit, vector_limit=2 * fusion.vector_limit, mmr=min(1.0, max(0.0, mmr))
    )


def _hard(hard: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    unknown = sorted(set(hard) - set(HARD))
    if unknown:
        raise UsageError("no hard slot", where="hard", given=", ".join(unknown), allowed=", ".join(HARD))
    for name, texts in hard.items():
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise UsageError("not a list of texts", where=f"hard.{name}", given=texts)
    return tuple((name, text) for name in HARD for text in hard.get(name, ()))


def _no_candidate(item: Decision, near: float) -> str | None:
    if item.durability == "ephemeral":
        return "ephemeral: promote it first"
    return f"near copy: cosine {item.similar:.3f} with an item before it" if item.similar >= near else None
