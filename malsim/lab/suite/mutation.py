"""The mutation score of a suite: of all that can be broken in it, the share that some check notices."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import polars as pl

from malsim.base.errors import MalsimError, UsageError
from malsim.base.intervals import SHARE, ends_if_any, mean_interval
from malsim.lab.suite.mutants import mutants, mutated
from malsim.scenario.judge.judge import judge
from malsim.sim.run import FRAMES
from malsim.sim.settings.size import check_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from malsim.base.limits import Limits
    from malsim.scenario.judge.judge import Judged
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

    Change: TypeAlias = Callable[[Scenario], Scenario]
    Cases: TypeAlias = Sequence[tuple[Judged, Change]]

T = TypeVar("T")
Kind: TypeAlias = Literal["killed", "survived", "broke off", "equivalent", "impossible"]
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
    message: str = ""
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

    @property
    def shares(self) -> list[dict[str, Any]]:
        """The share that checks notice, of scenarios' own mutants and of the rules: of, mutants, value, low, high (95 %)."""
        rows = []
        for of, rules in (("scenarios", False), ("rules", True)):
            scored = [each for each in self.fates if each.kind not in UNSCORED and (each.owner == "rules") is rules]
            own = np.array([each.kind == "killed" for each in scored], dtype=np.float64)
            value, low, high = ends_if_any(mean_interval(own, SHARE))
            rows.append({"of": of, "mutants": len(own), "value": value, "low": low, "high": high})
        return rows

    def worst(self, count: int = 5) -> list[Fate]:
        """Of those that no check notices, the ones that change most of what the memory believes."""
        return sorted(self.of("survived"), key=lambda each: -each.change)[:count]

    @property
    def frame(self) -> pl.DataFrame:
        """A row a mutant: owner, mutant, kind, where, said, change."""
        names = ("owner", "mutant", "kind", "where", "message", "change")
        frame = pl.DataFrame({name: [getattr(each, name) for each in self.fates] for name in names})
        return frame.rename({"message": "said"})

    @property
    def table(self) -> pl.DataFrame:
        """A row an owner, the rules last: owner, a count a kind, scored, score (null where nothing could be noticed)."""
        owners = self.frame.group_by("owner", maintain_order=True)
        counts = owners.agg((pl.col("kind") == kind).sum().alias(kind) for kind in KINDS)
        counts = counts.with_columns(scored=pl.sum_horizontal("killed", "survived", "broke off"))
        share = pl.when(pl.col("scored") > 0).then(pl.col("killed") / pl.col("scored")).alias("score")
        return counts.with_columns(share).sort(pl.col("owner") == "rules", "owner", maintain_order=True)

    def __str__(self) -> str:
        """The mutants that no check notices by name, and the score."""
        unnoticed = [*self.of("survived"), *self.of("broke off")]
        lines = [f"{each.where}: {each.kind}: {each.mutant}{each.message and f': {each.message}'}" for each in unnoticed]
        return "\n".join([*lines, self.summary])

    @property
    def summary(self) -> str:
        """The score, in one line."""
        same, impossible = (len(self.of(kind)) for kind in UNSCORED)
        more = f"; {same} more change nothing that is recorded" if same else ""
        more += f"; {impossible} more cannot be made" if impossible else ""
        score = f"mutation score {self.share:.3g}: {len(self.of('killed'))} of {self.scored} mutants noticed by a check"
        return f"{score}{more}"


def suite_mutants(suite: Iterable[Judged]) -> list[tuple[str, Cases]]:
    """Each mutant by name, with the scenarios that may notice it: a rule is every scenario's, all else is one's own.

    The quickest to run come first, as one that notices is enough.
    """
    by_name: dict[tuple[str, str], list[tuple[Judged, Change]]] = {}
    for base in sorted(suite, key=lambda each: _work(each.scenario)):
        for name in mutants(base.scenario):
            owner = "" if name.startswith(SHARED) else base.scenario.path
            by_name.setdefault((owner, name), []).append((base, partial(mutated, name=name)))
    return [(name, cases) for (_, name), cases in by_name.items()]


def quickest(scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Scenarios, those first that take the fewest days of replications."""
    return sorted(scenarios, key=_work)


def _work(scenario: Scenario) -> float:
    return scenario.replications * scenario.days


def sample_mutants(
    population: Iterable[tuple[str, Cases]], *, each: int, rules: int, tries: int, seed: int = 0
) -> list[tuple[str, Cases]]:
    """At most `each` mutants of every scenario's own and `rules` of the suite's, drawn by the seed and the file's name.

    A rule is tried in the `tries` quickest scenarios. What is drawn of one scenario hangs on no other: a suite may be asked
    in pieces. Raises `UsageError` for counts below 0.
    """
    for flag, count in (("--each", each), ("--rules", rules), ("--tried", tries)):
        if count < 0:
            raise UsageError("no count of mutants", where=flag, given=count, allowed="0 or more")
    by_owner: dict[str, list[tuple[str, Cases]]] = {}
    for name, cases in population:
        owner = "" if name.startswith(SHARED) else cases[0][0].scenario.path
        by_owner.setdefault(owner, []).append((name, cases if owner else cases[:tries]))
    sample = []
    for owner, own in by_owner.items():
        key = np.array([seed, zlib.crc32(Path(owner).name.encode())], dtype=np.uint64)
        order = np.random.Generator(np.random.Philox(key=key)).permutation(len(own))[: each if owner else rules]
        sample += [own[place] for place in sorted(order)]
    return sample


def evenly(items: Sequence[T], count: int) -> list[T]:
    """`count` of them, or all, spread evenly over their order; raises `UsageError` for fewer than one.

    >>> evenly(range(10), 3)
    [0, 3, 6]
    """
    if count < 1:
        raise UsageError("no mutant to make", where="--mutants", given=count, allowed="1 or more")
    count = min(count, len(items))
    return [items[number * len(items) // count] for number in range(count)]


def score(
    suite: Sequence[Judged],
    *,
    limits: Limits | None = None,
    cases: Iterable[tuple[str, Cases]] | None = None,
) -> MutationScore:
    """The fates of the mutants of a suite that passes.

    Parameters
    ----------
    suite
        Scenarios as they were judged.
    limits
        What a mutant may ask of the machine.
    cases
        Mutants by name, each as the scenarios that may notice it with the change to each; default `suite_mutants(suite)`.

    Raises
    ------
    UsageError
        If a check of the suite does not pass as it is, so that nothing could be told from its failing.
    """
    for one in suite:
        if one.status != "pass":
            raise UsageError(
                "mutants tell nothing of a suite that does not pass", where=one.scenario.path, hint="mend it first"
            )
    cases = suite_mutants(suite) if cases is None else cases
    return MutationScore(tuple(_first(name, own, limits) for name, own in cases))


def fate(base: Judged, name: str, change: Change, *, limits: Limits | None = None) -> Fate:
    """What becomes of one mutant of one scenario."""
    where = base.scenario.path or base.scenario.name
    try:
        broken = change(base.scenario)
        if limits is not None:
            check_size(broken, limits)
    except MalsimError as problem:
        return Fate(mutant=name, kind="impossible", where=where, message=str(problem))
    result = judge(broken, limits=limits)
    if result.run and base.run and _same(result.run, base.run):
        return Fate(mutant=name, kind="equivalent", where=where)
    failure = next((outcome for outcome in result.outcomes if outcome.status == "fail"), None)
    if failure is not None:
        return Fate(mutant=name, kind="killed", where=f"{where}:{failure.check.line}", message=failure.check.name)
    distance = _change(result.run, base.run) if result.run and base.run else 0.0
    errors = [result.error, *(outcome.message for outcome in result.outcomes if outcome.status == "error")]
    error = next((error.partition("\n")[0] for error in errors if error), "")
    return Fate(mutant=name, kind="broke off" if error else "survived", where=where, message=error, change=distance)


def _same(run: Run, other: Run) -> bool:
    """Whether all that is recorded is the same."""
    frames = all(getattr(run, name).equals(getattr(other, name)) for name in FRAMES)
    return frames and run.metrics().equals(other.metrics())


def _change(run: Run, other: Run) -> float:
    """The mean of |Δ effective| over what either recorded of cells."""
    sides = [each.cells.select("t", "rep", "cell", pl.col("effective").fill_null(0.0)) for each in (run, other)]
    both = sides[0].join(sides[1], on=["t", "rep", "cell"], how="full", nulls_equal=True)
    distance = (both["effective"] - both["effective_right"]).abs().fill_null(1.0)
    return float(distance.mean() or 0.0)  # type: ignore[arg-type]  # a column of floats


def _first(name: str, cases: Cases, limits: Limits | None) -> Fate:
    """The fate of a mutant that several scenarios may notice: the first that kills it decides."""
    fates = []
    for base, change in cases:
        fates.append(fate(base, name, change, limits=limits))
        if fates[-1].kind == "killed":
            return fates[-1]
    order: tuple[Kind, ...] = ("survived", "broke off", "equivalent", "impossible")
    worst = min(fates, key=lambda each: order.index(each.kind))
    most = max(one.change for one in fates)
    where = worst.where if len(fates) == 1 else f"{len(fates)} scenarios"
    return replace(worst, where=where, change=most)
