"""Conversion of live items to evidence: writers and objects are indexed, and each value is mapped to a class or an item."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.base.limits import within
from malsim.laws.truth.evidence import Evidence, latest, stated_bins

if TYPE_CHECKING:
    from malsim.laws.engine.items import Items
    from malsim.laws.truth.fading import Fading
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.port import Vocabulary

MOST_SHARED = 20  # maximum number of values that count as classes
NUMBER = 40  # bytes per confusion-matrix entry and per term: five 8-byte arrays exist at once
ABOUT = 2  # a value that occurs for at least this many objects counts as a class


class ItemEvidence(NamedTuple):
    """Live items as evidence: each item's object, its value or item index, and whether it is a claim or a verified fact.

    `fading` is the time constant estimated from the claims, if any; `form` names the form chosen by verified facts.
    """

    evidence: Evidence
    about: Ints
    value: Ints
    claim: Bools
    shared: bool
    fading: Fading | None = None
    form: str = ""


def word_of(items: Items, row: int) -> str:
    word = items.vocabulary.values[items.object[row]][items.value[row]]
    return word if isinstance(word, str) else f"{word:g}"


def words_of(vocabulary: Vocabulary) -> tuple[Ints, int]:
    """Return the index of each value's string, shape [objects, values], and the number of distinct strings."""
    words = sorted({str(word) for values in vocabulary.values for word in values})
    index = {word: number for number, word in enumerate(words)}
    widest = max((len(values) for values in vocabulary.values), default=0)
    numbers = np.zeros((len(vocabulary.values), widest), dtype=np.int64)
    for about, values in enumerate(vocabulary.values):
        numbers[about, : len(values)] = [index[str(word)] for word in values]
    return numbers, len(words)


def is_shared(vocabulary: Vocabulary) -> bool:
    """Return whether objects share a set of values: at most 20 values, most of which occur for at least two objects.

    >>> from malsim.memory.port import Vocabulary
    >>> is_shared(Vocabulary("w", "xy", [["no", "yes"], ["no", "yes"]])), is_shared(Vocabulary("w", "xy", [["1"], ["2"]]))
    (True, False)
    """
    counts = Counter(word for values in vocabulary.values for word in {str(value) for value in values})
    often = sum(count >= ABOUT for count in counts.values())
    return 0 < len(counts) <= MOST_SHARED and 2 * often > len(counts)


def gather(items: Items, weight: Array, *, shared: bool, pins: bool = True, as_one: bool = False) -> ItemEvidence:
    """Return the claims among live items as evidence, one row per claim.

    If `pins` is true, verified items are not claims: the latest verified item about an object pins its value. If
    `as_one` is true, the writers of a lineage are one writer, whose latest item about an object is the claim.
    """
    rep, vocabulary = items.rep.astype(np.int64), items.vocabulary
    pairs, about = np.unique(rep * len(vocabulary.objects) + items.object, return_inverse=True)
    object_rep = pairs // len(vocabulary.objects)
    if shared:
        words, count = words_of(vocabulary)
        value, item_object = words[items.object, items.value], None
        count = max(2, count)
        speakers = np.unique(rep * len(vocabulary.writers) + items.writer).size
        arrays = (speakers + int(items.verified.any()) * len(rep)) * count * count + (len(rep) + len(pairs)) * count
        within({"memory": NUMBER * arrays}, where="writers' confusions")
    else:
        most = int(items.value.max(initial=0)) + 1
        every, value = np.unique(about * most + items.value, return_inverse=True)
        item_object, count = every // most, 0
    pinned = np.full(len(pairs), -1)
    reviewed = items.verified & pins
    facts = np.flatnonzero(reviewed)
    facts = facts[np.argsort(items.time[facts], kind="stable")]
    pinned[about[facts]] = value[facts]
    claim = ~reviewed
    who = vocabulary.voices[items.writer] if as_one and vocabulary.lineages else items.writer
    if as_one:
        rows = np.flatnonzero(claim)
        claim = np.zeros(len(claim), dtype=bool)
        claim[rows[latest(who[rows], about[rows], items.time[rows])]] = True
    writers, writer = np.unique(rep[claim] * len(vocabulary.writers) + who[claim], return_inverse=True)
    evidence = Evidence(
        writer=writer, object=about[claim], value=value[claim], weight=weight[claim],
        bin=stated_bins(items.as_stated[claim]), writer_rep=writers // len(vocabulary.writers), object_rep=object_rep,
        reps=int(rep.max(initial=0)) + 1, pinned=pinned, values=count, item_object=item_object,
    )  # fmt: skip
    return ItemEvidence(evidence, about, value, claim, shared)
