"""The mutation score of a suite: of all that can be broken in it, the share that some check notices."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import numpy as np
import polars as pl

from malsim.errors import MalsimError, UsageError
from malsim.lab.studies.mutants import mutants, mutated
from malsim.scenario.judge.judge import judge
from malsim.sim.run import FRAMES
from malsim.sim.settings.size import check_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from malsim.limits import Limits
    from malsim.scenario.judge.judge import Judged
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

__all__ = ["Fate", "MutationScore", "drawn", "evenly", "fate", "score", "suite_mutants"]

T = TypeVar("T")
Kind: TypeAlias = Literal["killed", "survived", "broke off", "equivalent", "impossible"]
Change: TypeAlias = "Callable[[Scenario], Scenario]"
SHARED = "rules."
UNSCORED: tuple[Kind, ...] = ("equivalent", "impossible")
KINDS: tuple[Kind, ...] = ("killed", "survived", "broke off", *UNSCORED)
_LINE = re.compile(r":\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of a mutant: the check that noticed it, or the error that kept the checks from noticing anything.

    It is equivalent where all that is recorded is the same as without it: no check could notice. `change` is what it does to
    the memory: the mean of |Δ effective| over cells and ticks recorded, 1 where only one of both has the cell; 0 if not run.
    """

    mutant: str
    kind: Kind
    where: str
    said: str = ""
    change: float = 0.0

    @property
    def owner(self) -> str:
        """The scenario that it is of, `rules` for one of the whole suite's."""
        return "rules" if self.mutant.startswith(SHARED) else _LINE.sub("", self.where)


@dataclass(frozen=True, slots=True)
class MutationScore:
    """The fates of all mutants. One that breaks off with an error was noticed by no check, and does not count as killed.

    Those that are equivalent or cannot be made are counted apart.
    """

    fates: tuple[Fate, ...]

    def of(self, kind: Kind) -> tuple[Fate, ...]:
        """The fates of one kind."""
        return tuple(each for each in self.fates if each.kind == kind)

    @property
    def scored(self) -> int:
        """How many some check could have noticed."""
        return sum(each.kind not in UNSCORED for each in self.fates)

    @property
    def share(self) -> float:
        """Killed, over all that some check could have noticed."""
        return len(self.of("killed")) / self.scored if self.scored else 0.0

    def worst(self, count: int = 5) -> list[Fate]:
        """Of those that no check notices, the ones that change most of what the memory believes."""
        return sorted(self.of("survived"), key=lambda each: -each.change)[:count]

    @property
    def frame(self) -> pl.DataFrame:
        """A row a mutant: owner, mutant, kind, where, said, change."""
        names = ("owner", "mutant", "kind", "where", "said", "change")
        return pl.DataFrame({name: [getattr(each, name) for each in self.fates] for name in names})

    @property
    def table(self) -> pl.DataFrame:
        """A row an owner, the rules last: owner, a count a kind, scored, score (null where nothing could be noticed)."""
        owners = self.frame.group_by("owner", maintain_order=True)
        counts = owners.agg((pl.col("kind") == kind).sum().alias(kind) for kind in KINDS)
        scored = counts.with_columns(scored=pl.sum_horizontal("killed", "survived", "broke off"))
        share = pl.when(pl.col("scored") > 0).then(pl.col("killed") / pl.col("scored")).alias("score")
        return scored.with_columns(share).sort(pl.col("owner") == "rules", "owner", maintain_order=True)

    def __str__(self) -> str:
        """The mutants that no check notices by name, and the score."""
        left = [*self.of("survived"), *self.of("broke off")]
        lines = [f"{each.where}: {each.kind}: {each.mutant}{each.said and f': {each.said}'}" for each in left]
        return "\n".join([*lines, self.said])

    @property
    def said(self) -> str:
        """The score, in one line."""
        same, impossible = (len(self.of(kind)) for kind in UNSCORED)
        more = f"; {same} more change nothing that is recorded" if same else ""
        more += f"; {impossible} more cannot be made" if impossible else ""
        score = f"mutation score {self.share:.3g}: {len(self.of('killed'))} of {self.scored} mutants noticed by a check"
        return f"{score}{more}"


def suite_mutants(suite: Iterable[Judged]) -> list[tuple[str, list[tuple[Judged, Change]]]]:
    """Each mutant by name, with the scenarios that may notice it: a rule is every scenario's, all else is one's own.

    The quickest to run come first, as one that notices is enough.
    """
    found: dict[tuple[str, str], list[tuple[Judged, Change]]] = {}
    for judged in sorted(suite, key=lambda each: each.scenario.replications * each.scenario.days):
        for name in mutants(judged.scenario):
            owner = "" if name.startswith(SHARED) else judged.scenario.path
            found.setdefault((owner, name), []).append((judged, partial(mutated, name=name)))
    return [(name, tried) for (_, name), tried in found.items()]


def drawn(
    made: Iterable[tuple[str, list[tuple[Judged, Change]]]], *, each: int, rules: int, tried: int, seed: int = 0
) -> list[tuple[str, list[tuple[Judged, Change]]]]:
    """At most `each` mutants of every scenario's own and `rules` of the suite's, drawn by the seed and the file's name.

    A rule is tried in the `tried` quickest scenarios. What is drawn of one scenario hangs on no other: a suite may be asked
    in pieces. Raises `UsageError` for counts below 0.
    """
    for flag, count in (("--each", each), ("--rules", rules), ("--tried", tried)):
        if count < 0:
            raise UsageError("no count of mutants", where=flag, given=count, allowed="0 or more")
    owned: dict[str, list[tuple[str, list[tuple[Judged, Change]]]]] = {}
    for name, where in made:
        owner = "" if name.startswith(SHARED) else where[0][0].scenario.path
        owned.setdefault(owner, []).append((name, where if owner else where[:tried]))
    found = []
    for owner, own in owned.items():
        key = np.array([seed, zlib.crc32(Path(owner).name.encode())], dtype=np.uint64)
        order = np.random.Generator(np.random.Philox(key=key)).permutation(len(own))[: each if owner else rules]
        found += [own[place] for place in sorted(order)]
    return found


def evenly(made: Sequence[T], count: int) -> list[T]:
    """`count` of them, or all, spread evenly over their order; raises `UsageError` for fewer than one.

    >>> evenly(range(10), 3)
    [0, 3, 6]
    """
    if count < 1:
        raise UsageError("no mutant to make", where="--mutants", given=count, allowed="1 or more")
    count = min(count, len(made))
    return [made[number * len(made) // count] for number in range(count)]


def score(
    suite: Sequence[Judged],
    *,
    limits: Limits | None = None,
    made: Iterable[tuple[str, Sequence[tuple[Judged, Change]]]] | None = None,
) -> MutationScore:
    """The fates of the mutants of a suite that passes.

    Parameters
    ----------
    suite
        Scenarios as they were judged.
    limits
        What a mutant may ask of the machine.
    made
        Mutants by name, each as the scenarios that may notice it with the change to each; default `suite_mutants(suite)`.

    Raises
    ------
    UsageError
        If a check of the suite does not pass as it is, so that nothing could be told from its failing.
    """
    for judged in suite:
        if judged.status != "pass":
            raise UsageError(
                "mutants tell nothing of a suite that does not pass", where=judged.scenario.path, hint="mend it first"
            )
    wanted = suite_mutants(suite) if made is None else made
    return MutationScore(tuple(_first(name, tried, limits) for name, tried in wanted))


def fate(judged: Judged, name: str, change: Change, *, limits: Limits | None = None) -> Fate:
    """What becomes of one mutant of one scenario."""
    where = judged.scenario.path or judged.scenario.name
    try:
        broken = change(judged.scenario)
        if limits is not None:
            check_size(broken, limits)
    except MalsimError as problem:
        return Fate(mutant=name, kind="impossible", where=where, said=str(problem))
    found = judge(broken, limits=limits)
    if found.run and judged.run and _same(found.run, judged.run):
        return Fate(mutant=name, kind="equivalent", where=where)
    failed = next((outcome for outcome in found.outcomes if outcome.status == "fail"), None)
    if failed is not None:
        return Fate(mutant=name, kind="killed", where=f"{where}:{failed.check.line}", said=failed.check.name)
    moved = _change(found.run, judged.run) if found.run and judged.run else 0.0
    errors = [found.error, *(outcome.said for outcome in found.outcomes if outcome.status == "error")]
    said = next((error.partition("\n")[0] for error in errors if error), "")
    return Fate(mutant=name, kind="broke off" if said else "survived", where=where, said=said, change=moved)


def _same(run: Run, other: Run) -> bool:
    """Whether all that is recorded is the same."""
    frames = all(getattr(run, name).equals(getattr(other, name)) for name in FRAMES)
    return frames and run.metrics().equals(other.metrics())


def _change(run: Run, other: Run) -> float:
    """The mean of |Δ effective| over what either recorded of cells."""
    sides = [each.cells.select("t", "rep", "cell", pl.col("effective").fill_null(0.0)) for each in (run, other)]
    both = sides[0].join(sides[1], on=["t", "rep", "cell"], how="full", nulls_equal=True)
    moved = (both["effective"] - both["effective_right"]).abs().fill_null(1.0)
    return float(moved.mean() or 0.0)  # type: ignore[arg-type]  # a column of floats


def _first(name: str, tried: Sequence[tuple[Judged, Change]], limits: Limits | None) -> Fate:
    """The fate of a mutant that several scenarios may notice: the first that kills it decides."""
    found = []
    for judged, change in tried:
        found.append(fate(judged, name, change, limits=limits))
        if found[-1].kind == "killed":
            return found[-1]
    order: tuple[Kind, ...] = ("survived", "broke off", "equivalent", "impossible")
    kept = min(found, key=lambda each: order.index(each.kind))
    most = max(one.change for one in found)
    where = kept.where if len(found) == 1 else f"{len(found)} scenarios"
    return replace(kept, where=where, change=most)
