"""What laws would have answered to the questions in a log, or of a memory: where they differ, and which writer decides."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_files
from malsim.importers.building.claim_stream import stream
from malsim.lab.studies.laws.stream import Stream, arrived, ask
from malsim.laws import find_law, plant_of
from malsim.laws.engine.graph_plant import Graph
from malsim.scenario.history.log_history import read_log
from malsim.sim.replay.feed import replay

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

UNSTATED = 0.7  # the confidence of a claim that states none: what the gate leaves of one that nobody verified
SHOWN = 10
WRITERS = 20  # those with most claims are tried as the one who decides


@dataclass(frozen=True, kw_only=True, repr=False)
class LogComparison:
    """One row a question and law: asked, object, law, said, probability, and whether it differs from the first law.

    `asked` is a day, null where all is said before. `decides` names, where laws differ, the writers without whose claims the
    law would have answered something else.
    """

    frame: pl.DataFrame
    title: str

    @property
    def shares(self) -> pl.DataFrame:
        """By law: questions, how many it answers, and the share on which it differs from the first."""
        counts = pl.len().alias("questions"), pl.col("said").count().alias("answered")
        return self.frame.group_by("law", maintain_order=True).agg(*counts, differs=pl.col("differs").mean())

    def json(self) -> str:
        """The rows as one JSON list."""
        return json.dumps(self.frame.to_dicts(), indent=1, ensure_ascii=False)

    def write(self, folder: Path) -> list[Path]:
        """Write questions.parquet and questions.json; returns the paths."""
        return save_files(folder, {"questions.parquet": self.frame, "questions.json": self.json() + "\n"})

    def __repr__(self) -> str:
        """A table a person reads: the shares, then the first questions on which laws differ."""
        lines = [self.title]
        for law, questions, answered, differs in self.shares.iter_rows():
            lines.append(f"  {law:<16} answers {answered} of {questions}, differs on {differs:.3f}")
        here = self.frame.filter(pl.col("differs").any().over("question"))
        for (question,), rows in here.group_by("question", maintain_order=True):
            if len(lines) > SHOWN * len(rows):
                return "\n".join([*lines, f"  … {here['question'].n_unique()} questions differ in all; --json has them"])
            when = "in the end" if rows["asked"][0] is None else f"day {rows['asked'][0]:.4g}"
            lines.append(f"  {when}, {rows['object'][0]} (question {question})")
            for row in rows.iter_rows(named=True):
                who = f"; {', '.join(row['decides'])} decides" if row["decides"] else ""
                lines.append(f"    {row['law']:<14} {row['said'] or 'nothing'}{who}")
        return "\n".join(lines)


def compare_on_log(path: Path, laws: Sequence[str]) -> LogComparison:
    """Ask every law what a log's readers asked, each question with the claims written before it.

    Questions are the log's `read` events that name an object; claims its `write` events with object and value, of confidence
    `belief`, or .7 where none is stated. Raises `UsageError` for a log that asks about nothing that was written, `DataError`
    for one that cannot be read.
    """
    lines = read_log(path).lines
    writes = lines.filter(pl.col("event") == "write").drop_nulls(["object", "value"])
    claims = writes.select(
        "line", "object", "value", time=pl.col("t"), writer=pl.col("writer").fill_null("unknown"),
        confidence=pl.col("belief").clip(0.001, 0.999).fill_null(UNSTATED),
    )  # fmt: skip
    reads = lines.filter((pl.col("event") == "read") & pl.col("object").is_in(claims["object"].implode()))
    if reads.is_empty():
        raise UsageError("nothing to ask: no read names an object that was written about", where=str(path))
    questions = reads.select("object", asked=pl.col("t"), value=pl.lit("")).with_row_index("question", offset=1)
    return _comparison(path, claims, questions, laws)


def compare_on_memory(path: Path, laws: Sequence[str], *, confidence: float | None = None) -> LogComparison:
    """Ask every law about each object of a store, or of a memory that can be imported, once all its claims are in.

    Raises as `malsim.importers.building.claim_stream.stream`.
    """
    claims = stream(path, confidence=confidence).claims
    objects = claims.select("object").unique(maintain_order=True)
    questions = objects.with_columns(asked=pl.lit(None, pl.Float64), value=pl.lit("")).with_row_index("question", offset=1)
    return _comparison(path, claims, questions, laws)


def _comparison(path: Path, claims: pl.DataFrame, questions: pl.DataFrame, laws: Sequence[str]) -> LogComparison:
    parts = [_answers(claims, questions, law) for law in laws]
    first = parts[0]["said"]
    parts = [part.with_columns(differs=part["said"].ne_missing(first)) for part in parts]
    some = pl.concat(parts).filter("differs")["question"].unique().implode()
    differing = questions.filter(pl.col("question").is_in(some))
    deciders = [_deciders(claims, differing, part, law) for part, law in zip(parts, laws, strict=True)]
    frame = pl.concat(part.join(own, on="question", how="left") for part, own in zip(parts, deciders, strict=True))
    title = f"{path.name}: {questions.height} questions, {claims.height} claims of {claims['writer'].n_unique()} writers"
    return LogComparison(frame=frame.sort("question", maintain_order=True), title=title)


def _answers(claims: pl.DataFrame, questions: pl.DataFrame, name: str) -> pl.DataFrame:
    """The questions with what a law says to each."""
    law = find_law(name, where="--laws")
    plant = plant_of(law)
    about = questions.join(claims.select("object").unique(), on="object", how="semi", maintain_order="left")
    if about.is_empty():  # without its only writer
        both = about.with_columns(said=pl.lit(None, pl.String), probability=pl.lit(None, pl.Float64))
    elif isinstance(plant, Graph):
        answers = replay(claims, about.drop("question").unique(maintain_order=True), rules=plant.rules).answers
        both = about.join(answers.select("object", "asked", "said", "probability"), on=["object", "asked"], how="left",
                          nulls_equal=True)  # fmt: skip
    else:
        stream = Stream.of(arrived(claims), about, alone=not law.pools)
        leading = ask(plant, stream, ticks=law.pools)
        both = about.with_columns(stream.words_of(leading["said"]), leading["probability"])
    every = questions.join(both.select("question", "said", "probability"), on="question", how="left", maintain_order="left")
    return every.select("question", "asked", "object", pl.lit(law.name).alias("law"), "said", "probability")


def _deciders(claims: pl.DataFrame, questions: pl.DataFrame, answers: pl.DataFrame, law: str) -> pl.DataFrame:
    """By question: the writers without whose claims the law says something else."""
    ours = answers.select("question", "said")
    about = claims.join(questions.select("object").unique(), on="object", how="semi")
    changes = [pl.DataFrame(schema={"question": pl.UInt32, "decides": pl.String})]
    for writer in about["writer"].value_counts(sort=True)["writer"].head(WRITERS):
        without = _answers(claims.filter(pl.col("writer") != writer), questions, law)
        both = without.join(ours, on="question", how="left", suffix="_before")
        other = both.filter(pl.col("said").ne_missing(pl.col("said_before")))
        changes.append(other.select("question", decides=pl.lit(writer)))
    return pl.concat(changes).group_by("question", maintain_order=True).agg("decides")
