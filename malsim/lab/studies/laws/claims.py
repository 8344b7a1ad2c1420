"""Comparison of laws on a file of real claims with known truth, and the explanation of a law's belief in a claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from malsim.base.errors import AddressError, UsageError
from malsim.importers.building.claim_stream import is_memory, stream
from malsim.lab.studies.laws.side_by_side import LawTable, law_rows
from malsim.lab.studies.laws.stream import Stream, arrived, ask, questions_of
from malsim.laws import find_law, plant_of
from malsim.laws.engine.graph_plant import Graph
from malsim.memory.port import Explains, HoldsGraph
from malsim.memory.schema import NONE
from malsim.sim.replay.feed import replay
from malsim.sim.writers.engine.claim_files import read_claims, read_truth

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory import Rules
    from malsim.memory.explain import LawExplanation


Memory = TypeVar("Memory", bound="str | Rules")

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".ndjson", ".ndjson.gz", ".jsonl")


def read_folder(folder: str | Path, *, on_bad_rows: str = "stop") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read claims and truth from a folder that contains `claims.csv.gz` and `truth.csv.gz`, or files in other formats.

    Raises `UsageError` if a file is missing.
    """
    paths = [file_of(Path(folder), stem) for stem in ("claims", "truth")]
    read = read_claims(paths[0], on_bad_rows=on_bad_rows)
    return read.claims, read_truth(paths[1], epoch=read.epoch)


def read_source(
    path: Path, truth: str | None = None, *, confidence: float | None = None, on_bad_rows: str = "stop"
) -> tuple[pl.DataFrame, pl.DataFrame | None, list[str]]:
    """Read claims and truth from a claims file, a folder with both files, a store, or another memory that can be imported.

    `confidence` is used for a memory's claims that state none. The last item has a line for each kind of row left out.
    Raises `DataError` or `StoreError` if a file or store cannot be read.
    """
    if path.is_dir() and any(path.glob("claims.*")):
        path, truth = file_of(path, "claims"), truth or str(file_of(path, "truth"))
    if is_memory(path):
        memory = stream(path, confidence=confidence)
        lines = [f"left out: {count} {kind}" for kind, count in memory.left_out.items() if count]
        return memory.claims, read_truth(truth, epoch=None) if truth else None, lines
    read, lines = read_claims(path, on_bad_rows=on_bad_rows), []
    if read.bad.height:
        lines.append(f"{read.bad.height} bad rows left out, the first on line {read.bad['line'][0]}")
    if read.clipped:
        lines.append(f"{read.clipped} stated confidences of 0 or 1 taken as 0.001 or 0.999")
    return read.claims, read_truth(truth, epoch=read.epoch) if truth else None, lines


def file_of(folder: Path, stem: str) -> Path:
    """Return the path of a folder's claims or truth file. Raises `UsageError` if the file is missing."""
    for suffix in SUFFIXES:
        if (path := folder / f"{stem}{suffix}").is_file():
            return path
    raise UsageError(f"the {stem} file is missing", where=str(folder), allowed=f"{stem}.csv, .csv.gz, .parquet or .ndjson")


def compare_on_claims(
    claims: pl.DataFrame,
    truth: pl.DataFrame,
    laws: Sequence[str],
    *,
    ask_after: float = 0.0,
    without: Sequence[str] = (),
    data: str = "claims",
    seed: int = 0,
) -> LawTable:
    """Ask several laws the same questions about the same claims, and score their answers.

    Metrics: `accuracy` over all questions; `returned`, the accuracy over questions whose true value the object had before;
    `brier`, if the law has a belief. A tie of k values counts as 1/k right. An item-based law has one memory per object and
    never ticks, so a claim's age counts only in the law's score. A law that keeps writers' records has one memory for all
    objects, which ticks before each question. So does a claim graph, in which contradictions are mutual, as in `replay`.

    Differences are from the first of `laws`. Questions are asked `ask_after` days after a change of truth; claims by the
    writers in `without` are left out. Raises `UsageError` if a writer is unknown, or if claims and truth share no object.
    """
    writers = claims["writer"].unique().sort().to_list()
    if unknown := [writer for writer in without if writer not in writers]:
        hint = f"use the name of a writer of these claims: {', '.join(writers[:5])} …"
        raise UsageError("no such writer", where="--without", given=unknown[0], hint=hint)
    claims = claims.filter(~pl.col("writer").is_in(list(without)))
    questions, answers = answers_on_claims(claims, truth, laws, ask_after=ask_after, data=data)
    title = f"{data}, asked {ask_after:g} days after each change" if ask_after else data
    title += f", without {', '.join(without)}" if without else ""
    return LawTable(frame=law_rows(answers, questions, data=data, seed=seed), title=title)


def answers_on_claims(
    claims: pl.DataFrame, truth: pl.DataFrame, laws: Sequence[Memory], *, ask_after: float = 0.0, data: str = "claims"
) -> tuple[pl.DataFrame, dict[Memory, pl.DataFrame]]:
    """Return the questions and, for each law or set of rules, its answers (right, probability)."""
    in_order, questions = arrived(claims), questions_of(truth, ask=ask_after)
    questions = questions.filter(pl.col("object").is_in(in_order["object"].unique().implode()))
    if questions.is_empty():
        raise UsageError("the claims and the truth have no object in common", where=data)
    return questions, {law: _answers(law, in_order, claims, questions) for law in laws}


def _answers(name: str | Rules, in_order: pl.DataFrame, claims: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    if not isinstance(name, str):
        return graph_answers(name, claims, questions)
    law = find_law(name)
    plant = plant_of(law)
    if not isinstance(plant, Graph):
        return ask(plant, Stream.of(in_order, questions, alone=not law.pools), ticks=law.pools)
    return graph_answers(plant.rules, claims, questions)


def graph_answers(rules: Rules, claims: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """Replay the claims on a graph under `rules`, and return `right` and `probability` for each question."""
    answers = replay(claims, questions.select("object", "value", "asked"), rules=rules).answers
    key = ["object"] if questions["asked"].null_count() == questions.height else ["object", "asked"]
    both = questions.join(answers, on=key, how="left", maintain_order="left")
    return both.select(pl.col("right").fill_null(value=False).cast(pl.Float64), "probability")


def explain_claim(
    claims: pl.DataFrame,
    cell: str,
    *,
    law: str = "records",
    params: Mapping[str, object] | None = None,
    at: float | None = None,
) -> LawExplanation:
    """Explain a law's belief on day `at` in a claim, given by its handle or, for the latest claim, as `object=value`.

    `claims` is a frame from `importers.building.claim_stream` or `read_claims`. Raises `AddressError` if there is no such
    claim by that day, `UsageError` for a law that does not explain its beliefs.
    """
    plant = plant_of(law, params)
    if isinstance(plant, HoldsGraph):
        raise UsageError(
            "a law on a claim graph is not supported here",
            given=law,
            hint="leave out --law to explain the claim in its graph",
        )
    if not isinstance(plant, Explains):
        raise UsageError("this law does not explain its beliefs", given=law)
    in_order = arrived(claims)
    cell = cell.encode("utf-8", "replace").decode()  # lone surrogates cannot be encoded, and no name contains them
    now = float(in_order["t"].max() or 0.0) if at is None else at  # type: ignore[arg-type]  # days
    in_order = in_order.filter(pl.col("t") <= now)
    stream = Stream.of(in_order)
    state, verdicts = plant.admit(plant.init([0], stream.vocabulary), stream.claims)
    state = plant.tick(state, now)
    view = plant.view(state, now)
    answers = in_order.select(answer=pl.format("{}={}", "object", "value")).to_series()
    names = in_order["cell"] if "cell" in in_order.columns else answers
    admitted = verdicts.row != NONE
    matches = np.flatnonzero(((names == cell) | (answers == cell)).to_numpy() & admitted)
    if not len(matches):
        same = answers.filter(in_order["object"] == cell.partition("=")[0])
        near = ", ".join((answers if same.is_empty() else same).unique(maintain_order=True).head(3))
        raise AddressError("no such claim yet", given=f"{cell} on day {now:g}", allowed=f"for example {near}")
    explanation = plant.explain(state, np.flatnonzero(view.active), int(verdicts.row[matches[-1]]), now)
    handles = in_order.select(pl.col("cell") if "cell" in in_order.columns else pl.format("line {}", "line")).to_series()
    by_name = dict(zip(view.name.gather(verdicts.row[admitted]), handles.filter(admitted), strict=True))
    return replace(explanation, handle=cell, evidence=explanation.evidence.with_columns(pl.col("cell").replace(by_name)))
