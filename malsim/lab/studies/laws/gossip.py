"""What a second, third and tenth gossip does to `records`, and what knowing where claims come from gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.lab.studies.laws.claims import read_folder
from malsim.lab.studies.laws.questions import questions_of
from malsim.lab.studies.laws.stream import Stream, arrived
from malsim.laws.truth.evidence import Evidence, latest
from malsim.laws.truth.own_values import own_values
from malsim.laws.truth.voices import copies, echoes

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.memory.graph.arrays import Array, Bools, Ints

__all__ = ["SETTINGS", "gossip_table"]


class _Voices(NamedTuple):
    """How claims count: `tau` in days (0 for none), whose copies are dropped, what an echo weighs."""

    tau: float = 0.0
    origin: str = ""
    lineage: bool = False
    echo: float = 1.0


SETTINGS = {
    "records as it stands": _Voices(),
    "tau by class: stable, 3,650 d": _Voices(tau=3650.0),
    "tau by class: volatile, 30 d": _Voices(tau=30.0),
    "origin, gossips name each other": _Voices(origin="gossip"),
    "origin, gossips name the source": _Voices(origin="source"),
    "lineage, gossips are one model": _Voices(lineage=True),
    "an echo weighs .25": _Voices(echo=0.25),
    "an echo weighs nothing": _Voices(echo=0.0),
}


class _Told(NamedTuple):
    """Claims in order of arrival, as numbers."""

    writer: Ints
    object: Ints
    value: Ints
    time: Array

    def part(self, rows: Bools | slice) -> _Told:
        """Some of them."""
        return _Told(self.writer[rows], self.object[rows], self.value[rows], self.time[rows])


def gossip_table(
    folder: str | Path, counts: tuple[int, ...] = (1, 2, 3, 10), *, echo: str = "gossip", ask: float = 30.0
) -> pl.DataFrame:
    """The share of changes that `records` answers right, asked `ask` days after each, by setting and number of gossips.

    Gossips are copies of the claims of one writer, `echo`, under names of their own, at the same time.

    Returns
    -------
    pl.DataFrame
        setting, gossips, accuracy, questions.

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
        in_order = arrived(pl.concat([claims, *more]))
        stream = Stream.of(in_order, questions_of(truth, ask=ask), alone=False)
        said = stream.claims
        told = _Told(said.writer, said.object, said.value, said.t)
        gossip = np.array([name.startswith(echo) for name in stream.vocabulary.writers])
        for name, voices in SETTINGS.items():
            right = _right(stream, *_weighted(told, gossip, voices), voices.tau)
            rows.append({"setting": name, "gossips": count, "accuracy": float(right.mean()), "questions": len(right)})
    return pl.DataFrame(rows)


def _weighted(told: _Told, gossip: Bools, voices: _Voices) -> tuple[_Told, Array]:
    """The claims that are voices of their own, and their weights."""
    if voices.lineage:
        told = told._replace(writer=np.where(gossip[told.writer], np.flatnonzero(gossip)[0], told.writer))
    weight = np.where(echoes(*told), voices.echo, 1.0) if voices.echo < 1.0 else np.ones(len(told.writer))
    kept = weight > 0.0
    if voices.origin:
        named = np.where(gossip[told.writer] | np.full(len(kept), voices.origin == "source"), 0, -1)
        kept &= ~copies(*told, [named])
    return told.part(kept), weight[kept]


def _right(stream: Stream, told: _Told, weight: Array, tau: float) -> Array:
    """Which questions are answered right: those of one time from the claims before it."""
    right = np.zeros(len(stream.asked))
    for time in np.unique(stream.asked):
        end = int(np.searchsorted(told.time, time, side="left"))
        here = np.flatnonzero(stream.asked == time)
        said = _answers(told.part(slice(end)), weight[:end], float(time), tau, stream.object[here])
        right[here] = said == stream.truth[here]
    return right


def _answers(told: _Told, weight: Array, now: float, tau: float, asked: Ints) -> Ints:
    """The likeliest value of each object asked about, -1 for one that nobody spoke of."""
    kept = latest(told.writer, told.object, told.time)
    writer, about, value = told.writer[kept], told.object[kept], told.value[kept]
    most = int(value.max(initial=0)) + 1
    items, item = np.unique(about * most + value, return_inverse=True)
    objects = int(max(about.max(initial=0), asked.max(initial=0))) + 1
    aged = np.exp(-np.maximum(now - told.time[kept], 0.0) / tau) if tau else np.ones(len(kept))
    held = own_values(Evidence(
        writer=writer, object=about, value=item, weight=weight[kept] * aged, bin=np.full(len(kept), -1),
        writer_rep=np.zeros(int(writer.max(initial=0)) + 1, dtype=np.int64), object_rep=np.zeros(objects, dtype=np.int64),
        reps=1, pinned=np.full(objects, -1), item_object=items // most,
    )).effective  # fmt: skip
    answer = np.full(objects, -1)
    order = np.lexsort((-np.arange(len(items)), held))  # the last write of an object is its likeliest
    answer[items[order] // most] = items[order] % most
    return answer[asked]
