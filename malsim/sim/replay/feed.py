"""Replay of recorded claims through the gate, with a tick after each batch, and scores of the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.memory import Memory, Rules, admit, settle, tick
from malsim.memory.gate.claims import as_claims
from malsim.memory.gate.edit import connect_rows
from malsim.memory.graph.frames import format_expr
from malsim.memory.graph.index import scattered
from malsim.memory.outcomes import leaders, share_right
from malsim.sim.record import scoring
from malsim.sim.replay.disputes import disputes
from malsim.sim.writers.engine.claim_files import read_claims, read_truth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.memory import Settled
    from malsim.sim.record.scoring import Score

Stop: TypeAlias = tuple[int, float | None]
Watch: TypeAlias = Callable[[Sequence[Stop]], Iterable[Stop]]

BATCHES = 100
MOST_CONTESTED = 6
SAME_WEIGHT = 1e-9  # sums of confidences that differ by less than this are considered equal
_CONTRADICTIONS = ("mutual", "forward")


@dataclass(frozen=True, kw_only=True)
class Replay:
    """Result of replaying a stream of claims.

    `answers` has object, said, probability, asked (days, or null if the truth is undated) and, if there is a truth, right
    (1/k for a tie of k values). Without truth, `score` is None and `baselines` is empty. `cells` has the heads of the most
    contested objects, tick by tick, and `labels` their objects and values.
    """

    memory: Memory
    settled: Settled
    answers: pl.DataFrame
    score: Score | None
    baselines: dict[str, Score]
    cells: pl.DataFrame
    labels: pl.DataFrame
    ticks: int
    dated: bool
    refused: pl.DataFrame


def replay(
    claims: pl.DataFrame | str | Path, truth: pl.DataFrame | str | Path | None = None, *, rules: Rules | None = None,
    contradictions: str = "mutual", seed: int = 0, watch: Watch = iter,
) -> Replay:  # fmt: skip
    """Replay recorded claims and score the answers.

    `claims` (time, writer, object, value, stated_confidence; see `claim_files.read_claims`) and `truth` are frames with the
    columns of the files, or paths of files: CSV, Parquet or NDJSON. Every claim becomes a cell (verification external).
    Untimed claims arrive in an order drawn from the seed, timed claims in order of time, writer and line, in batches of 1 %
    per tick; then the graph settles. With a dated truth (object, value, asked) the graph settles at each question, with the
    claims made before. The answer about an object is the head with the highest effective confidence. `watch` wraps the
    sequence of batches, like a progress bar.
    """
    if contradictions not in _CONTRADICTIONS:
        allowed = ", ".join(_CONTRADICTIONS)
        raise UsageError("no such contradiction mode", where="contradictions", given=contradictions, allowed=allowed)
    claims, truth = _read(claims, truth)
    stream = arranged(claims, seed)
    feed = _Feed(stream, disputes(stream, mutual=contradictions == "mutual"), rules or Rules())
    dated = truth is not None and truth["asked"].null_count() < truth.height
    questions = sorted(truth["asked"].drop_nulls().unique().to_list()) if truth is not None and dated else []
    parts: list[pl.DataFrame] = []
    for stop, at in watch(list(_stops(stream, questions))):
        feed.advance(stop)
        if at is not None:
            parts.append(_answers(feed, at))
    feed.advance(stream.height)
    settled = feed.settle()
    if not dated:
        parts = [_answers(feed, None)]
    given = pl.concat(parts) if parts else _answers(feed, None).clear()
    answers, score, baselines = _graded(given, stream, truth, seed)
    return Replay(
        memory=settled.memory, settled=settled, answers=answers, score=score, baselines=baselines, labels=feed.labels,
        cells=pl.concat(feed.cells) if feed.cells else pl.DataFrame(), ticks=feed.ticks,
        dated=stream["time"].null_count() < stream.height,
        refused=pl.concat(feed.refused) if feed.refused else pl.DataFrame(),
    )  # fmt: skip


def _read(
    claims: pl.DataFrame | str | Path, truth: pl.DataFrame | str | Path | None
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    epoch = None
    if isinstance(claims, (str, Path)) or "line" not in claims.columns:
        source = read_claims(claims)
        claims, epoch = source.claims, source.epoch
    is_read = truth is None or (isinstance(truth, pl.DataFrame) and "asked" in truth.columns)
    return claims, truth if is_read else read_truth(truth, epoch=epoch)  # type: ignore[arg-type,return-value]  # is_read says which


def arranged(claims: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return claims numbered in order of arrival, with `t` in days. Untimed claims arrive shuffled, in daily batches."""
    if claims["time"].null_count() == claims.height:
        lines = claims["line"].to_numpy().astype(np.uint64)
        order = np.argsort(scattered(lines + scattered(np.array([seed], dtype=np.uint64))), kind="stable")
        stream = claims[order].with_row_index("arrival")
        size = _batch(claims.height)
        return stream.with_columns(pl.col("arrival").cast(pl.Int64), t=(pl.col("arrival") / size))
    stream = claims.sort("time", "writer", "line").with_row_index("arrival")
    return stream.with_columns(pl.col("arrival").cast(pl.Int64), t=pl.col("time"))


def _batch(count: int) -> int:
    return max(1, -(-count // BATCHES))


def _stops(stream: pl.DataFrame, questions: list[float]) -> Iterator[Stop]:
    size = _batch(stream.height)
    ends: list[Stop] = [(end, None) for end in range(size, stream.height, size)]
    before = np.searchsorted(stream["t"].to_numpy(), np.array(questions), side="left").tolist() if questions else []
    ends += list(zip(before, questions, strict=True))
    yield from sorted(ends, key=lambda stop: (stop[0], stop[1] is not None, stop[1] or 0.0))


class _Feed:
    """Memory that is filled from a stream of claims."""

    def __init__(self, stream: pl.DataFrame, edges: pl.DataFrame, rules: Rules) -> None:
        self.stream, self.rules = stream, rules
        self.claims = claims_to_admit(stream, edges)
        self.later = edges.filter(pl.col("source") != pl.col("at")).with_columns(
            weight=pl.col("relation").replace_strict(rules.weights(), return_dtype=pl.Float64)
        )
        self.memory = Memory.empty()
        self.row = np.full(stream.height, -1, dtype=np.int64)
        self.done = self.ticks = 0
        self.cells: list[pl.DataFrame] = []
        self.refused: list[pl.DataFrame] = []
        contested = _most_contested(stream)
        self.labels = contested.select(rep=pl.lit(0, pl.Int32), cell="cell", object="object", title="value")

    def advance(self, stop: int) -> None:
        size = _batch(self.stream.height)
        while self.done < stop:
            end = min(stop, (self.done // size + 1) * size)
            self._scan(self.done, end)
            self.done = end

    def _scan(self, begin: int, end: int) -> None:
        self.memory, verdicts = admit(self.memory, self.claims.slice(begin, end - begin), self.rules)
        cell = verdicts["cell"]
        self.row[verdicts["sequence"].to_numpy()] = cell.fill_null(-1).to_numpy()
        if cell.null_count():
            self.refused.append(verdicts.filter(cell.is_null()).select("sequence", "writer", "issues"))
        self._connect(begin, end)
        now = self.now(end)
        self.memory = tick(self.memory, now, self.rules)
        self.ticks += 1
        heads = self.memory.cells.filter(pl.col("handle").is_in(self.labels["cell"].implode()))
        columns = pl.lit(now).alias("t"), "rep", pl.col("handle").alias("cell"), "effective", "currency"
        self.cells.append(heads.select(columns))

    def _connect(self, begin: int, end: int) -> None:
        due = self.later.filter(pl.col("at").is_between(begin, end, closed="left"))
        rows = due.with_columns(
            pl.Series("source", self.row[due["source"].to_numpy()]),
            pl.Series("target", self.row[due["target"].to_numpy()]),
            writer=self.stream["writer"].gather(due["source"]),
            t=self.stream["t"].gather(due["at"]),
            mutual=pl.lit(value=False),
        ).filter((pl.col("source") >= 0) & (pl.col("target") >= 0))
        self.memory = connect_rows(self.memory, rows, self.rules)

    def now(self, end: int) -> float:
        if self.stream["time"].null_count():
            return end / _batch(self.stream.height)
        return float(self.stream["t"][max(0, end - 1)])

    def settle(self, now: float | None = None) -> Settled:
        settled = settle(self.memory, self.now(self.done) if now is None else now, self.rules)
        self.memory = settled.memory
        self.ticks += settled.ticks
        return settled


_HANDLE = pl.lit("obs_") + pl.col("arrival").cast(pl.String).str.zfill(6)


def claims_to_admit(stream: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    """Return an arranged stream as claims for the gate, each with the edges that it writes on arrival."""
    name = stream.select(_HANDLE).to_series()
    at_arrival = edges.filter(pl.col("source") == pl.col("at"))
    at_arrival = at_arrival.select(arrival="source", edge=pl.struct("relation", target=name.gather(at_arrival["target"])))
    lists = at_arrival.group_by("arrival", maintain_order=True).agg(pl.col("edge").alias("edges"))
    claims = stream.join(lists, on="arrival", how="left", maintain_order="left").select(
        "t", "writer", "object",
        sequence="arrival",
        handle=_HANDLE,
        title=format_expr("{} is {}", "object", "value"),
        body=format_expr("{}, line {}", "writer", "line"),
        confidence="confidence",
        verification=pl.lit("external"),
        edges="edges",
        stability=pl.coalesce(pl.col("stability").replace("", None), pl.lit("stable"))
        if "stability" in stream.columns
        else pl.lit("stable"),
    )  # fmt: skip
    return as_claims(claims).sort("sequence")


def _most_contested(stream: pl.DataFrame) -> pl.DataFrame:
    """Return the first claim of each value, for the objects whose second most popular value has the most claims."""
    votes = stream.group_by("object", "value").agg(pl.len().alias("votes"), pl.col("arrival").min())
    runner_up = votes.group_by("object").agg(pl.col("votes").sort(descending=True).get(1, null_on_oob=True).alias("second"))
    objects = runner_up.drop_nulls().sort(["second", "object"], descending=[True, False]).head(MOST_CONTESTED)["object"]
    return votes.filter(pl.col("object").is_in(objects.implode())).sort("object", "arrival").with_columns(cell=_HANDLE)


def _answers(feed: _Feed, at: float | None) -> pl.DataFrame:
    if at is not None:
        feed.settle(at)
    heads = leaders(feed.memory)
    value = feed.stream["value"]
    arrival = feed.memory.cells["handle"].gather(heads["row"]).str.slice(4).cast(pl.Int64)
    text = value.gather(arrival).alias("said")
    return heads.select("object", text, "tied", probability="effective", asked=pl.lit(at, pl.Float64))


def _graded(
    given: pl.DataFrame, stream: pl.DataFrame, truth: pl.DataFrame | None, seed: int
) -> tuple[pl.DataFrame, Score | None, dict[str, Score]]:
    if truth is None:
        return given.drop("tied"), None, {}
    questions = truth.unique(["object", "asked"], keep="first", maintain_order=True)
    key = ["object"] if questions["asked"].null_count() == questions.height else ["object", "asked"]
    pairs = given.join(questions.select(*key, "value"), on=key, maintain_order="left")
    title = format_expr("{} is {}", "object", "value")
    graded = pairs.with_columns(title=title).with_columns(right=share_right("title")).drop("value", "tied", "title")
    return graded, _score(graded, seed), baselines_of(stream, questions, seed)


def baselines_of(stream: pl.DataFrame, questions: pl.DataFrame, seed: int) -> dict[str, Score]:
    """Score two baselines: the value with the most claims (`majority`) or the highest sum of confidences (`stated`)."""
    votes = questions.rename({"value": "truth"}).join(stream, on="object", maintain_order="left_right")
    if questions["asked"].null_count() < questions.height:
        votes = votes.filter(pl.col("t") < pl.col("asked"))
    tables = {"majority": pl.len().cast(pl.Float64), "stated": pl.col("confidence").sum()}
    return {name: _score(_vote(votes, weight), seed) for name, weight in tables.items()}


def _vote(votes: pl.DataFrame, weight: pl.Expr) -> pl.DataFrame:
    """Return, for each question, the value with the most weight (the earliest in a tie) and its share of the total weight.

    `right` is 1/k if the true value is one of k values with the most weight.
    """
    question = ["object", "asked"]
    weights = votes.group_by(*question, "value", maintain_order=True).agg(
        weight.alias("weight"), pl.col("arrival").min(), pl.col("truth").first()
    )
    share = pl.col("weight") / pl.col("weight").sum().over(question)
    leads = weights.filter(pl.col("weight") >= pl.col("weight").max().over(question) - SAME_WEIGHT)
    leads = leads.with_columns(right=((pl.col("value") == pl.col("truth")).sum() / pl.len()).over(question))
    shares = weights.select(*question, "value", probability=share)
    best = leads.sort("arrival").unique(question, keep="first", maintain_order=True)
    return best.join(shares, on=[*question, "value"], how="left", nulls_equal=True, maintain_order="left")


def _score(graded: pl.DataFrame, seed: int) -> Score:
    return scoring.score(graded["probability"].to_numpy(), graded["right"].to_numpy(), seed=seed)
