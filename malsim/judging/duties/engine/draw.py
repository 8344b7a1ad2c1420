"""Draws of a plot: made-up words for its symbols, gaps between its days, and unrelated claims in between."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from malsim.adapters.contract import SETTLE_TICKS
from malsim.judging.axioms.engine.events import MINUTE
from malsim.judging.duties.engine.step import says

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from malsim.judging.axioms.engine.events import Pick
    from malsim.judging.duties.engine.step import Duty, Step

LONGEST_GAP = 60.0  # days
CONSONANTS, VOWELS, SYLLABLES = "bdfgklmnprstvz", "aeiou", 3
PLAIN = {"likes", "dislikes", "enjoys"}  # words of a value that are not symbols
DISGUISED = "~"  # last character of the symbol of a disguised value
ALIKE = str.maketrans("aeiops", "\u0430\u0435\u0456\u043e\u0440\u0455")  # Cyrillic
MOST_TRAFFIC = 4
MOST_KEPT = 2000  # plots


@lru_cache(MOST_KEPT)  # every memory gets the same plots
def plot_of(cell: Duty, picks: Callable[[int, str, int], Pick], seed: int, case: int) -> tuple[Step, ...]:
    """Return a cell's plot with drawn names, after case 0 also with drawn gaps and unrelated claims in the order of days."""
    played, pick = list(cell.steps), picks(seed, f"conformance {cell.name}", case)
    if case:
        days = _days(played, pick)
        played = [step.moved(days.__getitem__) for step in played]
        end = played[-1].t
        claims = pick.claims(pick.count(1, MOST_TRAFFIC), start=end * pick.share())
        traffic = [says(event.t, event.writer, "other", f"other{event.value}") for event in claims if event.t < end]
        played = sorted([*traffic, *played], key=lambda step: step.t)
    names = _names(played, pick)
    return tuple(step.named(names) for step in played)


def _days(steps: Sequence[Step], pick: Pick) -> dict[float, float]:
    """Draw a new day for each day of the plot, with time for daily ticks before background jobs."""
    old = sorted({day for step in steps for day in step.days})
    new = [old[0]]
    for _, day in pairwise(old):
        room = float(SETTLE_TICKS) if any(step.do == "settle" and step.t == day for step in steps) else 0.0
        new.append(new[-1] + room + pick.time(MINUTE, LONGEST_GAP))
    return dict(zip(old, new, strict=True))


def _names(steps: Iterable[Step], pick: Pick) -> dict[str, str]:
    fields = (field for step in steps for field in (step.object, step.value, step.by, step.scope, step.instead, step.to))
    symbols = dict.fromkeys(word for field in fields for word in field.split() if word not in PLAIN)
    names: dict[str, str] = {}
    for symbol in symbols:
        while (word := _word(pick)) in names.values():
            pass
        plain = names.get(symbol.removesuffix(DISGUISED))
        names[symbol] = _disguised(plain, pick) if plain and symbol.endswith(DISGUISED) else word
    return names


def _disguised(word: str, pick: Pick) -> str:
    full_width = "".join(chr(ord(letter) + 0xFEE0) for letter in word)
    hidden = [f"{word[:3]}{mark}{word[3:]}" for mark in ("\u200b", "\u00ad")]
    return pick.by_turns((*hidden, word.translate(ALIKE), full_width, word.upper()))


def _word(pick: Pick) -> str:
    pairs = len(CONSONANTS) * len(VOWELS)
    number, word = pick.count(0, pairs**SYLLABLES - 1), ""
    for _ in range(SYLLABLES):
        number, index = divmod(number, pairs)
        word += CONSONANTS[index // len(VOWELS)] + VOWELS[index % len(VOWELS)]
    return word
