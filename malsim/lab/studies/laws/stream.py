"""Time-ordered stream of claims and questions that any memory can process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.port import Claims, Vocabulary, view_now
from malsim.sim.replay.feed import arranged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Array, Ints
    from malsim.memory.port import Plant, View

QUESTIONS = {"object": pl.String, "asked": pl.Float64, "value": pl.String}
UNKNOWN = -2  # index of a true value that nobody claimed


def arrived(claims: pl.DataFrame) -> pl.DataFrame:
    """Return claims sorted by time, writer and line, with the time `t` in days. Undated claims keep their file order."""
    undated = claims["time"].null_count() == claims.height
    return claims.sort("line").with_columns(t=pl.lit(0.0)) if undated else arranged(claims, 0)


def questions_of(truth: pl.DataFrame, *, ask: float = 0.0) -> pl.DataFrame:
    """Return one row per question: object, asked (days; null for an undated truth), value, and `returned` (True or False).

    There is a question `ask` days after each *change* of a dated truth, which is a row whose value differs from the
    previous row of the same object. An object's first value is not a change. `returned` marks changes back to an earlier
    value. If the truth is undated, there is one question per object, after all claims.

    >>> truth = pl.DataFrame({"object": ["x"] * 4, "value": ["A", "B", "B", "A"], "asked": [0.0, 5.0, 6.0, 9.0]})
    >>> questions_of(truth, ask=1.0).rows()
    [('x', 6.0, 'B', False), ('x', 10.0, 'A', True)]
    """
    if truth["asked"].null_count() == truth.height:
        first = truth.unique("object", keep="first", maintain_order=True)
        return first.select("object", "asked", "value", returned=pl.lit(value=False))
    dated = truth.drop_nulls("asked").sort("object", "asked", maintain_order=True)
    before = pl.col("value").shift().over("object")
    runs = dated.filter(pl.col("value").ne_missing(before)).with_columns(
        returned=pl.int_range(pl.len()).over("object", "value") > 0, first=before.is_null()
    )
    changes = runs.filter(~pl.col("first"))
    return changes.select("object", pl.col("asked") + ask, "value", "returned").sort("asked", maintain_order=True)


@dataclass(frozen=True)
class Stream:
    """Claims in order of arrival and questions in order of time, as arrays of indices into a vocabulary.

    `memories` is the number of objects if each object has its own memory (as a replication), and 1 if one memory has them
    all. `words` has each object's values as text.
    """

    vocabulary: Vocabulary
    claims: Claims
    memories: int
    times: Array
    rep: Ints
    object: Ints
    truth: Ints
    words: Sequence[Sequence[str]]

    @classmethod
    def of(cls, claims: pl.DataFrame, questions: pl.DataFrame | None = None, *, alone: bool = False) -> Stream:
        """Build a stream from claims (t, writer, object, value, confidence) in order of arrival, and optional questions.

        With `alone`, each object has its own memory.
        """
        questions = pl.DataFrame(schema=QUESTIONS) if questions is None else questions
        writers = claims["writer"].unique(maintain_order=True)
        pairs = claims.select("object", "value").unique(maintain_order=True)
        pairs = pairs.with_columns(index=pl.int_range(pl.len()).over("object"))
        objects = pairs["object"].unique(maintain_order=True)
        values = pairs.group_by("object", maintain_order=True).agg("value")["value"].to_list()
        rows = claims.join(pairs, on=["object", "value"], maintain_order="left")
        claimed, writer = (_indices(rows[name], names) for name, names in (("object", objects), ("writer", writers)))
        questions = questions.filter(pl.col("object").is_in(objects.implode()))
        index = _indices(questions["object"], objects)
        true = questions.join(pairs, on=["object", "value"], how="left", maintain_order="left")["index"].fill_null(UNKNOWN)
        lineages: list[str] = []
        if "lineage" in claims.columns:
            last = claims.group_by("writer", maintain_order=True).agg(pl.col("lineage").drop_nulls().last())
            lineages = last["lineage"].fill_null("").to_list()
        if alone:  # each memory has one object, so a single name is enough
            vocabulary = Vocabulary(writers.to_list(), ["object"], [list(range(max(map(len, values), default=0)))], lineages)
        else:
            vocabulary = Vocabulary(writers.to_list(), objects.to_list(), values, lineages)
        zeros = np.zeros_like
        return cls(
            vocabulary=vocabulary,
            claims=Claims(
                rep=claimed if alone else zeros(claimed),
                t=rows["t"].to_numpy(),
                writer=writer,
                sequence=np.arange(len(claimed)),
                object=zeros(claimed) if alone else claimed,
                value=rows["index"].to_numpy().astype(np.int64),
                stated=rows["stated" if "stated" in rows.columns else "confidence"].fill_null(np.nan).to_numpy(),
                verified=rows["verified"].to_numpy() if "verified" in rows.columns else None,
            ),
            memories=len(objects) if alone else 1,
            times=questions["asked"].fill_null(np.inf).to_numpy(),
            rep=index if alone else zeros(index),
            object=zeros(index) if alone else index,
            truth=true.to_numpy().astype(np.int64),
            words=values,
        )

    def words_of(self, values: pl.Series) -> pl.Series:
        """Return the text of each answer in `values`, which has one value index per question (null without an answer)."""
        objects = self.rep + self.object  # one of the two arrays contains only zeros
        words = [None if value is None else self.words[row][value] for row, value in zip(objects, values, strict=True)]
        return pl.Series("said", words, dtype=pl.String)


def ask(plant: Plant[Any], stream: Stream, *, ticks: bool) -> pl.DataFrame:
    """Ask a memory every question in a stream. Return a frame with the columns said, right and probability.

    `said` is the index of the leading value (the earliest in a tie; null without an answer). `right` is 0, 1, or 1/k if k
    values tie. `probability` is null if the memory has no belief. Before each question the memory receives all earlier
    claims and, with `ticks`, ticks once.
    """
    state = plant.init(range(stream.memories), stream.vocabulary)
    columns = np.zeros((3, len(stream.times)))
    start, last, objects = 0, float(stream.claims.t.max(initial=0.0)), len(stream.vocabulary.objects)
    for time in np.unique(stream.times):
        end = int(np.searchsorted(stream.claims.t, time, side="left"))
        if end > start:
            state, _ = plant.admit(state, _part(stream.claims, slice(start, end)))
            start = end
        now = last if np.isinf(time) else float(time)
        state = plant.tick(state, now) if ticks else state
        rows = np.flatnonzero(stream.times == time)
        key = stream.rep[rows] * objects + stream.object[rows]
        columns[:, rows] = _answers(view_now(plant, state, now), key, stream.truth[rows], objects)
    answers = pl.DataFrame(columns.T, schema=["said", "right", "probability"], orient="row")
    return answers.with_columns(pl.col("said", "probability").fill_nan(None)).cast({"said": pl.Int64})


def _part(claims: Claims, rows: slice) -> Claims:
    names = ("rep", "t", "writer", "sequence", "object", "value", "stated")
    verified = None if claims.verified is None else claims.verified[rows]
    return Claims(**{name: getattr(claims, name)[rows] for name in names}, verified=verified)


def _answers(view: View, questions: Ints, truth: Ints, objects: int) -> Array:
    """Return three rows (top-ranked answer, correctness, belief) with a column per question; NaN without an answer."""
    active = np.flatnonzero(view.active)
    rank, key = view.rank[active], view.rep[active].astype(np.int64) * objects + view.object[active]
    highest = np.full(int(key.max(initial=0)) + 1, -np.inf)
    np.maximum.at(highest, key, rank)
    first = rank == highest[key]
    leaders = active[first]
    belief = np.full(len(leaders), np.nan) if view.belief is None else view.belief[leaders]
    leading = pl.DataFrame({"key": key[first], "said": view.value[leaders], "belief": belief})
    leading = leading.unique("key" if view.leads else ["key", "said"], keep="first", maintain_order=True)
    keys = pl.DataFrame({"key": questions, "truth": truth}).with_row_index("question")
    by_question = keys.join(leading, on="key", how="left", maintain_order="left").group_by("question", maintain_order=True)
    right = ((pl.col("said") == pl.col("truth")).sum() / pl.len()).alias("right")
    both = by_question.agg(pl.col("said").first().cast(pl.Float64), right, pl.col("belief").first())
    return both.select("said", "right", "belief").fill_null(np.nan).to_numpy().T


def _indices(words: pl.Series, names: pl.Series) -> Ints:
    return words.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
