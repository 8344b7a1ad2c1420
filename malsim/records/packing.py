"""Packing of a prompt within a token budget: hard slots first, then ranked items up to their caps, with a reason for each.

If a pack is thin, the search is repeated with wider limits. If the pack's items are similar, λ is moved towards
diversity. ARW's code moves λ the other way (`Coverage(shipped=True)`), which reduces diversity further.
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
    """Estimate the number of tokens in a text as one per four characters, rounded up.

    >>> quarter_of_letters("five!"), quarter_of_letters("")
    (2, 0)
    """
    return -(-len(text) // 4)


@dataclass(frozen=True)
class PackBudget:
    """Maximum number of tokens in a pack, and of items per kind. A kind without a cap is unlimited.

    Raises `UsageError` for a count below 0.
    """

    max_tokens: int
    per_kind_caps: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, count in {"max_tokens": self.max_tokens, **self.per_kind_caps}.items():
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                raise UsageError("not a valid count", where=f"budget.{name}", given=count, allowed="0 or more")


@dataclass(frozen=True)
class Coverage:
    """Rule for repeating a search up to `rounds` times while the pack is thin (uses less than `fill` of its tokens)."""

    fill: float = 0.5
    rounds: int = 3
    alike: float = 0.8
    step: float = 0.1
    shipped: bool = False


@dataclass(frozen=True)
class Decision:
    """Decision about packing an item: the numbers on which it is based, the cost, and the slot or reason for dropping."""

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
        """Decision as JSON values without the item's text. `mmr` is the verdict of the diversity rule."""
        values = {name: value for name, value in vars(self).items() if name != "text"}
        return values | {"mmr": "dropped" if (self.dropped or "").startswith("near") else "retained"}


@dataclass(frozen=True)
class Pack:
    """Result of packing: the decisions in order, the texts of the hard slots, and the cost in tokens."""

    decisions: tuple[Decision, ...]
    hard: tuple[tuple[str, str], ...]
    tokens: int
    rounds: int = 1
    mmr: float = 0.5

    @property
    def items(self) -> tuple[Decision, ...]:
        """Decisions on the items that were packed."""
        return tuple(decision for decision in self.decisions if decision.slot)

    @property
    def text(self) -> str:
        """Text of the pack: hard slots, then items, one per line."""
        return "".join(f"{text}\n" for text in [*(text for _, text in self.hard), *(item.text for item in self.items)])


def greedy(candidates: Sequence[Decision], budget: PackBudget, tokens: int) -> list[Decision]:
    """Pack candidates in order, dropping those beyond their kind's cap or the tokens left. This is the default packer."""
    counts, decisions = Counter[str](), list[Decision]()
    for item in candidates:
        if counts[item.kind] >= budget.per_kind_caps.get(item.kind, len(candidates)):
            decisions.append(replace(item, dropped=f"its kind's cap of {budget.per_kind_caps[item.kind]} is reached"))
        elif item.tokens > tokens:
            decisions.append(replace(item, dropped=f"over budget: {item.tokens} tokens, {tokens} left"))
        else:
            counts[item.kind] += 1
            tokens -= item.tokens
            decisions.append(replace(item, slot=f"{item.kind}:{counts[item.kind]}"))
    return decisions


def fill(
    ranked: Sequence[Decision], budget: PackBudget, hard: Mapping[str, Sequence[str]] | None = None, *,
    count: TokenCounter = quarter_of_letters, packer: Packer = greedy, near: float = 0.98,
) -> Pack:  # fmt: skip
    """Build a pack from ranked items.

    Ephemeral items and near copies (items whose cosine with an earlier item is at least `near`) are dropped. Raises
    `UsageError` if the hard slots alone exceed the budget, or if a custom packer exceeds it.
    """
    slots = _hard(hard or {})
    spent = sum(count(f"{text}\n") for _, text in slots)
    if spent > budget.max_tokens:
        given, allowed = budget.max_tokens, f"{spent} or more"
        raise UsageError(
            "the hard slots alone exceed the token budget", where="budget.max_tokens", given=given, allowed=allowed
        )
    candidates = []
    for item in ranked:
        reason = f"near copy: cosine {item.similar:.3f} with an item before it" if item.similar >= near else None
        reason = "ephemeral: promote it first" if item.durability == "ephemeral" else reason
        candidates.append(replace(item, tokens=count(f"{item.text}\n"), dropped=reason))
    admissible = [item for item in candidates if not item.dropped]
    by_id = {item.id: item for item in packer(admissible, budget, budget.max_tokens - spent)}
    decisions = tuple(by_id.get(item.id, item if item.dropped else replace(item, dropped="left out")) for item in candidates)
    inside = [item for item in decisions if item.slot]
    pack = Pack(decisions, slots, spent + sum(item.tokens for item in inside))
    kinds = Counter(item.kind for item in inside)
    over = [kind for kind, most in budget.per_kind_caps.items() if kinds[kind] > most]
    if pack.tokens > budget.max_tokens or over:
        raise UsageError("the packer exceeded the token budget or a cap", where="packer", given=over or pack.tokens)
    return pack


def widen(pack: Pack, fusion: Fusion, coverage: Coverage, *, max_tokens: int) -> Fusion | None:
    """Return the search settings for the next round, or None if the pack is not thin or no rounds are left."""
    if pack.rounds >= coverage.rounds or pack.tokens >= coverage.fill * max_tokens:
        return None
    alike = [item.similar for item in pack.items[1:]]
    mmr = fusion.mmr
    if alike and sum(alike) / len(alike) > coverage.alike:
        mmr += coverage.step if coverage.shipped else -coverage.step
    lexical, vector = 2 * fusion.lexical_limit, 2 * fusion.vector_limit
    return replace(fusion, lexical_limit=lexical, vector_limit=vector, mmr=min(1.0, max(0.0, mmr)))


def _hard(hard: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    unknown = sorted(set(hard) - set(HARD))
    if unknown:
        raise UsageError("no such hard slot", where="hard", given=", ".join(unknown), allowed=", ".join(HARD))
    for name, texts in hard.items():
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise UsageError("not a list of strings", where=f"hard.{name}", given=texts)
    return tuple((name, text) for name in HARD for text in hard.get(name, ()))
