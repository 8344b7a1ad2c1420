"""What a second, third and tenth gossip does to `records`, and what knowing where claims come from gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.intervals import ends
from malsim.lab.studies.laws.claims import read_folder
from malsim.lab.studies.laws.side_by_side import Resamples
from malsim.lab.studies.laws.stream import Stream, arrived, questions_of
from malsim.laws.truth.evidence import Evidence, latest
from malsim.laws.truth.own_values import own_values
from malsim.laws.truth.voices import copies, echoes, one_voice, repeats

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.memory.graph.arrays import Array, Bools, Ints

__all__ = ["SETTINGS", "gossip_table"]


class _Voices(NamedTuple):
    """How claims count: `tau` (days, 0 for none), whose copies are dropped, what an echo weighs, what one voice is."""

    tau: float = 0.0
    origin: str = ""
    lineage: bool = False
    echo: float = 1.0
    one: bool = False


SETTINGS = {
    "records, no tau": _Voices(),
    "tau by class: stable, 3,650 d": _Voices(tau=3650.0),
    "tau by class: volatile, 30 d": _Voices(tau=30.0),
    "origin, gossips name each other": _Voices(origin="gossip"),
    "origin, gossips name the source": _Voices(origin="source"),
    "lineage, gossips are one model": _Voices(lineage=True),
    "an echo weighs .25": _Voices(echo=0.25),
    "an echo weighs nothing": _Voices(echo=0.0),
    "one voice": _Voices(one=True),
}


class _InOrder(NamedTuple):
    """Claims in order of arrival, as numbers."""

    writer: Ints
    object: Ints
    value: Ints
    time: Array

    def part(self, rows: Bools | Ints | slice) -> _InOrder:
        """Some of them."""
        return _InOrder(self.writer[rows], self.object[rows], self.value[rows], self.time[rows])


def gossip_table(
    folder: str | Path, counts: tuple[int, ...] = (1, 2, 3, 10), *, echo: str = "gossip", ask: float = 30.0, seed: int = 0
) -> pl.DataFrame:
    """The share of changes that `records` answers right, asked `ask` days after each, by setting and number of gossips.

    Gossips are copies of the claims of one writer, `echo`, under names of their own, at the same time.

    Returns
    -------
    pl.DataFrame
        setting, gossips, accuracy with the ends of its interval over objects, questions.

    Raises
    ------
    UsageError
        For a writer who claims nothing.
    """
    claims, truth = read_folder(folder, on_bad_rows="skip")
    if not claims["writer"].eq(echo).any():
        raise UsageError("no claim is by this writer", where="gossip", given=echo)
    rows = []
    for count in counts:
        own = claims.filter(pl.col("writer") == echo)
        more = [own.with_columns(writer=pl.lit(f"{echo}-{number}")) for number in range(2, count + 1)]
        stream = Stream.of(arrived(pl.concat([claims, *more])), questions_of(truth, ask=ask), alone=False)
        drawn = Resamples(pl.Series(stream.object), seed)
        in_order = _InOrder(stream.claims.writer, stream.claims.object, stream.claims.value, stream.claims.t)
        gossip = np.array([name.startswith(echo) for name in stream.vocabulary.writers])
        for name, voices in SETTINGS.items():
            right = _right(stream, *_voices(in_order, gossip, voices), voices)
            low, high = ends(drawn.means(right, right >= 0.0))
            rows.append({"setting": name, "gossips": count, "accuracy": float(right.mean()), "accuracy_low": low,
                         "accuracy_high": high, "questions": len(right)})  # fmt: skip
    return pl.DataFrame(rows)


def _voices(claims: _InOrder, gossip: Bools, voices: _Voices) -> tuple[_InOrder, Array]:
    """The claims that are voices of their own, and their weights."""
    if voices.lineage:
        claims = claims._replace(writer=np.where(gossip[claims.writer], np.flatnonzero(gossip)[0], claims.writer))
    weight = np.where(echoes(*claims), voices.echo, 1.0) if voices.echo < 1.0 else np.ones(len(claims.writer))
    mask = weight > 0.0
    if voices.origin:
        origins = np.where(gossip[claims.writer] | np.full(len(mask), voices.origin == "source"), 0, -1)
        mask &= ~copies(*claims, [origins])
    return claims.part(mask), weight[mask]


def _right(stream: Stream, claims: _InOrder, weight: Array, voices: _Voices) -> Array:
    """How right each question is answered: those of one time from the claims before it."""
    right = np.zeros(len(stream.times))
    for time in np.unique(stream.times):
        end = int(np.searchsorted(claims.time, time, side="left"))
        here = np.flatnonzero(stream.times == time)
        questions = stream.object[here], stream.truth[here]
        right[here] = _right_at(claims.part(slice(end)), weight[:end], float(time), voices, *questions)
    return right


def _right_at(claims: _InOrder, weight: Array, now: float, voices: _Voices, questions: Ints, truth: Ints) -> Array:
    """How right the likeliest value of each object asked about is: 1/k where k are as likely, 0 where there is none."""
    rows = latest(claims.writer, claims.object, claims.time)
    if voices.one:
        rows = rows[~repeats(one_voice(*claims)[rows], claims.object[rows], claims.value[rows])]
    writer, about, value, time = claims.part(rows)
    most = int(value.max(initial=0)) + 1
    items, item = np.unique(about * most + value, return_inverse=True)
    objects = int(max(about.max(initial=0), questions.max(initial=0))) + 1
    decay = np.exp(-np.maximum(now - time, 0.0) / voices.tau) if voices.tau else np.ones(len(rows))
    belief = own_values(Evidence(
        writer=writer, object=about, value=item, weight=weight[rows] * decay, bin=np.full(len(rows), -1),
        writer_rep=np.zeros(int(writer.max(initial=0)) + 1, dtype=np.int64), object_rep=np.zeros(objects, dtype=np.int64),
        reps=1, pinned=np.full(objects, -1), item_object=items // most,
    )).effective  # fmt: skip
    best = np.zeros(objects)
    np.maximum.at(best, items // most, belief)
    leads = belief == best[items // most]
    equal = np.bincount(items[leads] // most, minlength=objects)
    true = np.isin(questions * most + truth, items[leads]) & (truth >= 0) & (truth < most)
    return true / np.maximum(equal[questions], 1)
