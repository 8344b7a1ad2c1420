"""Which laws answer the headline's questions: is a change seen, is a truth that returned seen, do gossips win."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.adapters.engine.adapter import Adapter, Phrases
from malsim.adapters.engine.user_plant import UserPlant
from malsim.base.errors import UsageError
from malsim.base.intervals import SHARE, mean_interval
from malsim.lab.studies.laws.claims import graph_answers
from malsim.lab.studies.laws.headline.pass_table import HeadlineTable
from malsim.lab.studies.laws.headline.world import HeadlineWorld, worlds
from malsim.lab.studies.laws.stream import Stream, ask
from malsim.laws import find_law, plant_of
from malsim.laws.engine.graph_plant import Graph
from malsim.laws.engine.items import Items
from malsim.laws.truth.estimate import estimate_truth
from malsim.laws.truth.evidence import latest
from malsim.laws.truth.voices import one_voice, repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from malsim.memory import Rules
    from malsim.memory.graph.arrays import Array, Ints
    from malsim.memory.port import Claims


@dataclass(frozen=True)
class Variant:
    """A law with settings of it; with `one_voice` a claim is not past once its value's first claimant says otherwise."""

    law: str
    settings: Mapping[str, object] = field(default_factory=dict)
    one_voice: bool = False


VARIANTS = {
    "records, no tau": Variant("records", {"tau_from": "given"}),
    "records, tau 365 d": Variant("records", {"tau": 365.0}),
    "records, one voice": Variant("records", one_voice=True),
}
SHOWN = (
    "records", *VARIANTS, "majority", "last_write", "sequential", "average", "dawid_skene", "crh", "truthfinder",
    "graphiti", "mem0_update", "fsrs",
)  # fmt: skip


def headline(
    laws: Sequence[str] = (), *, replications: int = 8, seed: int = 0, watch: Callable[[Any], Iterable[HeadlineWorld]] = iter
) -> HeadlineTable:
    """Ask laws in every world of `worlds` whether they see what is true now, and say who passes what.

    Parameters
    ----------
    laws
        Laws by name, or of `VARIANTS`; some that are much used and the four of `records` if empty; not `mal`, which takes
        longer than all of these.
    replications
        Draws of each world, 2 or more; an interval is of the mean over them.
    seed
        Of the first draw.

    Raises `UsageError` for fewer than two replications, `LawError` for an unknown law.
    """
    if replications < 2:  # noqa: PLR2004  # one has no spread
        raise UsageError("too few replications", where="--replications", given=replications, allowed="2 or more")
    variants = {name: VARIANTS.get(name) or Variant(find_law(name, where="--laws").name) for name in laws or SHOWN}
    rows: list[dict[str, object]] = []
    for world in watch(worlds()):
        claims, questions = draws_of(world, range(seed, seed + replications))
        for name, variant in variants.items():
            right = _right(variant, claims, questions)
            rows += [{"law": name, "question": question, "honest": world.honest, "sight": world.sight, **_share(right, rep)}
                     for question, right, rep in _parts(world, right, questions)]  # fmt: skip
    return HeadlineTable(pl.DataFrame(rows), replications)


def draws_of(world: HeadlineWorld, seeds: Iterable[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Claims and questions of several draws of a world, `rep` 0 the first seed's, in order of time."""
    draws = [world.draw(seed) for seed in seeds]
    claims, questions = (
        pl.concat(part.with_columns(rep=pl.lit(rep)) for rep, part in enumerate(parts)) for parts in zip(*draws, strict=True)
    )
    return claims.sort("t", maintain_order=True), questions.sort("asked", "rep", maintain_order=True)


def right_answers(memory: str | Rules | Adapter, claims: pl.DataFrame, questions: pl.DataFrame) -> Array:
    """How right each answer of `draws_of` is: of a law, of the graph's law under rules, or of a memory of one's own."""
    if isinstance(memory, str):
        return _right(Variant(memory), claims, questions)
    if isinstance(memory, Adapter):
        claims = claims.with_columns(pl.col("writer", "object").str.replace(" ", "-"))  # packages take names without spaces
        questions = questions.with_columns(pl.col("object").str.replace(" ", "-"))
        return ask(UserPlant(memory, Phrases()), _pooled(claims, questions), ticks=True)["right"].to_numpy()
    return _of_graph(memory, claims, questions)


def _parts(world: HeadlineWorld, right: Array, questions: pl.DataFrame) -> Iterable[tuple[str, Array, Ints]]:
    """The questions that a world's answers are for, with the answers and whose facts they are about."""
    fact, returned = _numbers(questions, "rep", "object"), questions["returned"].to_numpy()
    if world.gossips:
        solo = f", {world.solo} facts beside" if world.solo else ""
        yield f"{world.gossips} gossip{'s' * (world.gossips > 1)}{solo}", right, fact
    else:
        yield "changed", right[~returned], fact[~returned]
        yield "returned", right[returned], fact[returned]


def _share(right: Array, fact: Ints) -> dict[str, float]:
    """The mean over facts of the share that is right, and its interval."""
    count = np.bincount(fact)
    shares = (np.bincount(fact, weights=right) / np.maximum(count, 1))[count > 0]
    return dict(zip(("value", "low", "high"), mean_interval(shares, SHARE), strict=True)) | {"n": len(right)}


def _numbers(frame: pl.DataFrame, *names: str) -> Ints:
    """A number for each combination of some columns."""
    return frame.select(pl.struct(*names).rank("dense")).to_series().to_numpy().astype(np.int64) - 1


def _right(variant: Variant, claims: pl.DataFrame, questions: pl.DataFrame) -> Array:
    """How right each answer is."""
    law = find_law(variant.law)
    plant = plant_of(law, variant.settings)
    if isinstance(plant, Graph):
        return _of_graph(plant.rules, claims, questions)
    if law.pools:
        stream = _pooled(claims, questions)
        return _with_one_voice(stream) if variant.one_voice else ask(plant, stream, ticks=True)["right"].to_numpy()
    prefix = pl.format("{} {}", "rep", "object").alias("object")
    stream = Stream.of(claims.with_columns(prefix), questions.with_columns(prefix), alone=True)
    return ask(plant, stream, ticks=False)["right"].to_numpy()


def _pooled(claims: pl.DataFrame, questions: pl.DataFrame) -> Stream:
    """A memory for each draw, all facts in it."""
    stream = Stream.of(claims, questions)
    rep, about = (frame["rep"].to_numpy().astype(np.int64) for frame in (claims, questions))
    return replace(stream, claims=replace(stream.claims, rep=rep), memories=int(rep.max()) + 1, rep=about)


def _with_one_voice(stream: Stream) -> Array:
    """Of `records` on the graph with `records_voice = "one"`: each round anew, from the claims before it."""
    words, claims, right = stream.vocabulary, stream.claims, np.empty(len(stream.times))
    who, about = claims.rep * len(words.writers) + claims.writer, claims.rep * len(words.objects) + claims.object
    for day in np.unique(stream.times):
        past = slice(int(np.searchsorted(claims.t, day, side="left")))
        parts = who[past], about[past], claims.value[past], claims.t[past]
        rows = latest(parts[0], parts[1], parts[3])
        rows = rows[~repeats(one_voice(*parts)[rows], about[rows], claims.value[rows])]
        items = Items(_columns(claims, rows), np.arange(len(rows)), np.ones(len(rows), dtype=bool), vocabulary=words)
        worth = np.full((int(about.max()) + 1, int(claims.value.max()) + 1), -1.0)
        worth[about[rows], claims.value[rows]] = estimate_truth(items, float(day), tau_from="claims").effective
        here = np.flatnonzero(stream.times == day)
        right[here] = worth[stream.rep[here] * len(words.objects) + stream.object[here]].argmax(axis=1) == stream.truth[here]
    return right


def _columns(claims: Claims, rows: Ints) -> dict[str, Any]:
    """Some claims as the columns of items."""
    names = {"rep": "rep", "object": "object", "value": "value", "writer": "writer", "time": "t", "stated": "stated"}
    return {name: getattr(claims, own)[rows] for name, own in names.items()} | {"verified": np.zeros(len(rows))}


def _of_graph(rules: Rules, claims: pl.DataFrame, questions: pl.DataFrame) -> Array:
    """Of the graph's law, a memory for each draw, wired as a replay is."""
    right = np.empty(questions.height)
    for (rep,), part in questions.with_row_index("row").group_by("rep", maintain_order=True):
        own = claims.filter(pl.col("rep") == rep).with_row_index("line").rename({"t": "time"})
        own = own.with_columns(line=pl.col("line").cast(pl.Int64))
        right[part["row"].to_numpy()] = graph_answers(rules, own, part.drop("row"))["right"].to_numpy()
    return right
