"""Verdicts on duties: random variations of a plot are played until one fails, and the failing plot is shrunk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from malsim.adapters.checked_memory import LIMIT
from malsim.base.errors import MalsimError, UsageError
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.duties.engine.playing import BelieflessError, play
from malsim.judging.duties.engine.step import OBLIGATION, PROHIBITION, plot_of, step_table
from malsim.judging.duties.plots import every_duty, find_duty
from malsim.judging.duties.references import REFERENCES, Governed
from malsim.judging.shrink import simpler_streams, smallest
from malsim.judging.verdict_table import (
    ERROR,
    FAILS,
    HOLDS,
    NOT_OFFERED,
    RECORDED,
    VACUOUS,
    QuestionVerdict,
    VerdictTable,
    case_for_each,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from malsim.judging.axioms.engine.subject import Subject
    from malsim.judging.duties.engine.playing import Look
    from malsim.judging.duties.engine.step import Duty, Step

DRAWS = 20
COLUMNS = {"memory": "memory", "cell": "name", "kind": "kind", "verdict": "verdict", "why": "why", "witness": "calls"}


@dataclass(frozen=True, repr=False)
class Conformance(VerdictTable[QuestionVerdict]):
    """Verdicts per memory and cell. `frame` has the columns memory, cell, kind, verdict, why and witness."""

    KINDS = (OBLIGATION, PROHIBITION)

    @property
    def frame(self) -> pl.DataFrame:
        rows = [tuple(getattr(item, field) for field in COLUMNS.values()) for item in self.verdicts]
        return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")

    def figure(self) -> Any:
        """Plot the verdicts with one row per memory and one column per cell."""
        from malsim.showing.plots.studies.laws import verdict_matrix

        return verdict_matrix(self.frame, title="Verdicts of memories on duties")

    def __repr__(self) -> str:
        fails = {name: ", ".join(self.of(name)) or "none" for name in self.memories}
        return "\n".join(f"{name}: {self.counts(name)}; fails {cells}" for name, cells in fails.items())


def memory_of(given: object, **settings: object) -> Subject:
    """Return the test subject for the name of a reference memory, or for any memory that axioms accept."""
    if isinstance(given, str) and given in REFERENCES:
        if settings.get("settings"):
            raise UsageError("a reference memory has no parameters", where="duties", given=given)
        reference = REFERENCES[given]
        return subject_of(cast("object", type(given, (reference,), {})), trusted=True)
    return subject_of(given, **settings)  # type: ignore[arg-type]  # keyword arguments of `subject_of`


def assess_all(
    subjects: Sequence[Subject], cells: Iterable[Duty] | None = None, *, seed: int = 0, draws: int = DRAWS,
    watch: Callable[[Sequence[Subject]], Iterable[Subject]] = iter,
) -> Conformance:  # fmt: skip
    """Judge all memories on all duties. An error for one memory and duty does not affect the others."""
    duties = list(cells) if cells is not None else list(every_duty().values())
    return Conformance(tuple(judge(subject, cell, seed=seed, draws=draws) for subject in watch(subjects) for cell in duties))


def judge(subject: Subject, cell: Duty, *, seed: int = 0, draws: int = DRAWS) -> QuestionVerdict:
    """Judge one memory on one duty. The verdict is "holds" if the duty holds in every draw."""
    verdict = partial(QuestionVerdict, subject.name, cell.name, cell.kind, cell.sentence)
    missing = [need for need in cell.needs if need not in subject.offers]
    if missing:
        return verdict(NOT_OFFERED, f"it offers no {', '.join(missing)}")
    vacuous = ""
    try:
        for case in range(draws):
            steps = plot_of(cell, subject.pick, seed, case)
            looks = play(subject, steps)
            outcome = _outcome(looks)
            if not cell.judged:
                return verdict(RECORDED, _sentence(next(look for look in looks if not look.step.control)))
            if outcome == FAILS:
                # Times are not halved because the plot's own days are easier to read.
                simpler = partial(simpler_streams, halve=False)
                least = smallest(list(steps), simpler, partial(_fails_alone, subject, cell))
                why = next(_sentence(look) for look in play(subject, least) if not look.holds)
                return verdict(FAILS, why, step_table(least))
            if outcome == VACUOUS:
                vacuous = vacuous or next(_sentence(look) for look in looks if not look.holds and look.step.control)
    except BelieflessError:
        return verdict(NOT_OFFERED, "its items have no belief")
    except MalsimError as problem:
        return verdict(ERROR, str(problem))
    return verdict(VACUOUS, vacuous) if vacuous else verdict(HOLDS)


def _outcome(looks: Sequence[Look]) -> str:
    if not all(look.holds for look in looks if look.step.control):
        return VACUOUS
    return HOLDS if all(look.holds for look in looks) else FAILS


def _fails_alone(subject: Subject, cell: Duty, steps: Sequence[Step]) -> bool:
    """Return whether a shortened plot still fails for the memory, and its controls and the governed reference hold."""
    if sum(step.control for step in steps) < sum(step.control for step in cell.steps):
        return False
    try:
        return _outcome(play(_governed(), steps)) == HOLDS and _outcome(play(subject, steps)) == FAILS
    except MalsimError:
        return False


@cache
def _governed() -> Subject:
    return subject_of(Governed, trusted=True)


def _sentence(look: Look) -> str:
    step = look.step
    about = {"ask": f"asked about {step.object}", "texts": "its texts", "log": "its log"}[step.do]
    within = f" in {step.scope}" if step.scope else ""
    days = (("at", step.at), ("as of", step.as_of))
    times = "".join(f", {name} {day:.6g}" for name, day in days if day is not None)
    rule = f"{step.value or f'the action of {step.by}'} must be {step.want}"
    return f"day {step.t:.6g}, {about}{within}{times}: {rule}; it shows {look.answer}"


def assess(memory: object, *, cell: str | None = None, seed: int = 0, limit: float = LIMIT) -> Conformance:
    """Judge a memory on all duties or on a single one.

    Parameters
    ----------
    memory
        Name of a law or a reference memory, `package.module:factory`, `Rules` of the graph's law, or a factory of
        memories.
    cell
        Name of one cell, such as `change.C'`; all cells if None.
    seed
        Seed of the draws; the same seed finds the same witness.
    limit
        Maximum duration of a call to a memory of your own, in seconds.

    >>> assess("append", cell="change.B").of("append")
    ['change.B']
    """
    return assess_all([memory_of(memory, limit=limit)], [find_duty(cell)] if cell else None, seed=seed)


def check(
    memory: object, *, expected_failures: Iterable[str] = (), seed: int = 0, limit: float = LIMIT
) -> Callable[[str], None]:
    """Return a pytest test with one case per duty: `test_duties = check(MyMemory, expected_failures={"F6"})`.

    A failed cell fails its case and shows the witness; a cell in `expected_failures` fails its case if the cell holds.
    Vacuous cells and cells that are not offered are skipped. Raises `UsageError` if pytest is not installed.
    """
    names = {find_duty(name).name for name in expected_failures}
    return case_for_each(
        every_duty(),
        lambda cell: judge(memory_of(memory, limit=limit), find_duty(cell), seed=seed),
        expected=names,
        option="expected_failures",
    )
