"""A file of claims as a stream that any memory takes through the port, asked as it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.port import Claims, Vocabulary
from malsim.sim.replay.feed import arranged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Array, Ints
    from malsim.memory.port import Plant, View

__all__ = ["Stream", "arrived", "ask"]

QUESTIONS = {"object": pl.String, "asked": pl.Float64, "value": pl.String}
UNKNOWN = -2  # the place of a true value that nobody ever claimed


def arrived(claims: pl.DataFrame) -> pl.DataFrame:
    """Claims with `t` in days, by time, writer and line; claims without times in the order of their file."""
    untimed = claims["time"].null_count() == claims.height
    return claims.sort("line").with_columns(t=pl.lit(0.0)) if untimed else arranged(claims, 0)


@dataclass(frozen=True)
class Stream:
    """Claims in order of arrival and questions in order of time, as numbers, with the words behind them.

    `alone` says that each object has a memory of its own, a replication each; else one memory holds them all. `words` are
    the values of each object, whatever its memory calls them.
    """

    vocabulary: Vocabulary
    claims: Claims
    memories: int
    asked: Array
    rep: Ints
    object: Ints
    truth: Ints
    words: Sequence[Sequence[str]]

    @classmethod
    def of(cls, claims: pl.DataFrame, questions: pl.DataFrame | None = None, *, alone: bool = False) -> Stream:
        """From claims (t, writer, object, value, confidence, in order) and questions (object, asked, value), if any."""
        questions = pl.DataFrame(schema=QUESTIONS) if questions is None else questions
        writers = claims["writer"].unique(maintain_order=True)
        pairs = claims.select("object", "value").unique(maintain_order=True)
        pairs = pairs.with_columns(place=pl.int_range(pl.len()).over("object"))
        objects = pairs["object"].unique(maintain_order=True)
        values = pairs.group_by("object", maintain_order=True).agg("value")["value"].to_list()
        numbered = claims.join(pairs, on=["object", "value"], maintain_order="left")
        object_, writer = (_places(numbered[name], names) for name, names in (("object", objects), ("writer", writers)))
        asked = questions.filter(pl.col("object").is_in(objects.implode()))
        about = _places(asked["object"], objects)
        true = asked.join(pairs, on=["object", "value"], how="left", maintain_order="left")["place"].fill_null(UNKNOWN)
        kin: list[str] = []
        if "lineage" in claims.columns:
            kin = (
                claims.group_by("writer", maintain_order=True)
                .agg(pl.col("lineage").drop_nulls().last())["lineage"]
                .to_list()
            )
            kin = [one or "" for one in kin]
        if alone:  # every memory knows one object, so they share its name
            vocabulary = Vocabulary(writers.to_list(), ["object"], [list(range(max(map(len, values), default=0)))], kin)
        else:
            vocabulary = Vocabulary(writers.to_list(), objects.to_list(), values, kin)
        nought = np.zeros_like
        return cls(
            vocabulary=vocabulary,
            claims=Claims(
                rep=object_ if alone else nought(object_),
                t=numbered["t"].to_numpy(),
                writer=writer,
                sequence=np.arange(len(object_)),
                object=nought(object_) if alone else object_,
                value=numbered["place"].to_numpy().astype(np.int64),
                stated=numbered["stated" if "stated" in numbered.columns else "confidence"].fill_null(np.nan).to_numpy(),
                verified=numbered["verified"].to_numpy() if "verified" in numbered.columns else None,
            ),
            memories=len(objects) if alone else 1,
            asked=asked["asked"].fill_null(np.inf).to_numpy(),
            rep=about if alone else nought(about),
            object=nought(about) if alone else about,
            truth=true.to_numpy().astype(np.int64),
            words=values,
        )

    def spoken(self, said: pl.Series) -> pl.Series:
        """The words of the values that were said to each question, null where none was."""
        about = self.rep + self.object  # one of them is 0 throughout
        words = [None if value is None else self.words[thing][value] for thing, value in zip(about, said, strict=True)]
        return pl.Series("said", words, dtype=pl.String)


def ask(plant: Plant[Any], stream: Stream, *, ticks: bool) -> pl.DataFrame:
    """One row a question: said, right and probability.

    `said` is the place of the value that leads, the earliest of equals, null where nothing is known; `right` is 0, 1, or 1/k
    where k values lead together; `probability` is null without belief.

    Before each question the memory takes the claims of before that time and, where it `ticks`, ticks once.
    """
    state = plant.init(range(stream.memories), stream.vocabulary)
    said, right, probability = np.zeros((3, len(stream.asked)))
    done, last = 0, float(stream.claims.t.max(initial=0.0))
    for time in np.unique(stream.asked):
        end = int(np.searchsorted(stream.claims.t, time, side="left"))
        if end > done:
            state, _ = plant.admit(state, _part(stream.claims, slice(done, end)))
            done = end
        now = min(float(time), last) if np.isinf(time) else float(time)
        state = plant.tick(state, now) if ticks else state
        here = np.flatnonzero(stream.asked == time)
        said[here], right[here], probability[here] = _answers(
            plant.view(state, now), stream.rep[here], stream.object[here], stream.truth[here], len(stream.vocabulary.objects)
        )
    found = pl.DataFrame({"said": said, "right": right, "probability": probability})
    return found.with_columns(pl.col("said", "probability").fill_nan(None)).cast({"said": pl.Int64})


def _part(claims: Claims, rows: slice) -> Claims:
    names = ("rep", "t", "writer", "sequence", "object", "value", "stated")
    verified = None if claims.verified is None else claims.verified[rows]
    return Claims(**{name: getattr(claims, name)[rows] for name in names}, verified=verified)


def _answers(view: View, rep: Ints, object_: Ints, truth: Ints, objects: int) -> tuple[Array, Array, Array]:
    """The first answer by rank to each question, how right it is, and its belief; NaN where there is none."""
    alive = np.flatnonzero(view.active)
    rank, key = view.rank[alive], view.rep[alive].astype(np.int64) * objects + view.object[alive]
    most = np.full(int(key.max(initial=0)) + 1, -np.inf)
    np.maximum.at(most, key, rank)
    first = rank == most[key]
    leads = alive[first]
    belief = np.full(len(leads), np.nan) if view.belief is None else view.belief[leads]
    leading = pl.DataFrame({"key": key[first], "said": view.value[leads], "belief": belief})
    leading = leading.unique("key" if view.leads else ["key", "said"], keep="first", maintain_order=True)
    asked = pl.DataFrame({"key": rep * objects + object_, "truth": truth}).with_row_index("question")
    found = asked.join(leading, on="key", how="left", maintain_order="left").group_by("question", maintain_order=True)
    right = ((pl.col("said") == pl.col("truth")).sum() / pl.len()).alias("right")
    both = found.agg(pl.col("said").first().cast(pl.Float64), right, pl.col("belief").first())
    said, share, held = both.select("said", "right", "belief").fill_null(np.nan).to_numpy().T
    return said, share, held


def _places(words: pl.Series, names: pl.Series) -> Ints:
    """The place of each word among the names."""
    table = pl.DataFrame({"word": names, "place": np.arange(len(names))})
    found = pl.DataFrame({"word": words}).join(table, on="word", how="left", maintain_order="left")
    places: Ints = found["place"].to_numpy().astype(np.int64)
    return places
