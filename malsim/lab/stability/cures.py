"""The cures of a ringing loop, side by side: does it settle, how fast does it react, what does it answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.stability.analysis import stability
from malsim.lab.stability.asynchronous import asynchronous, settle_one_by_one
from malsim.lab.stability.fixed_point import fixed_point, polished
from malsim.lab.stability.frequency import damping_bound
from malsim.lab.stability.loop import TickLoop
from malsim.lab.stability.periods import of_trail, word
from malsim.lab.studies.real import RealClaims, read_real
from malsim.memory import Memory, Rules, admit
from malsim.scenario.checks.series_metrics import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from malsim.lab.stability.analysis import Stability
    from malsim.lab.stability.loop import Array
    from malsim.showing.plots.style import Sheet
    from malsim.sim.run import Run

PUSHES = ("supports", "contradicts")
BELOW = 0.9
TICKS = 200
CONFIDENCE = 0.9
STILL = 1e-12
STEP_METRICS = ("rise_time", "settling_time", "overshoot")


@dataclass(frozen=True)
class Cure:
    """A cure by name: the rules it stands for, and whether its cells are stepped one after another."""

    name: str
    setting: str
    rules: Rules
    one_by_one: bool = False

    def tick(self, loop: TickLoop) -> Callable[[Array], Array]:
        """Return the tick function of a loop under this cure."""
        return asynchronous(loop) if self.one_by_one else loop.tick


@dataclass(frozen=True, kw_only=True, repr=False)
class Cures:
    """A comparison of cures.

    `table` has a row a cure: cure, setting, verdict and what was seen from stated × calibration (moving: share of cells that
    never rest; amplitude), then the answer of `cell`, at rest, to one new claim: before, after, rise_time and
    settling_time (ticks; null: never), overshoot (percent). `response` has cure, tick, effective. `real` has, for each data
    set, cure, data, accuracy, low, high (95 % bootstrap over objects).
    """

    cell: str
    push: str
    table: pl.DataFrame
    response: pl.DataFrame
    real: pl.DataFrame

    def figure(self, *, title: str = "What can be done about a loop that rings") -> Sheet:
        """Plot the response of a cell under each cure, the cells still moving, and the accuracy on real claims if any."""
        from malsim.showing.plots.studies.cure_comparison import cures as draw

        return draw(self.table, self.response, self.real, cell=self.cell, title=title)

    def __repr__(self) -> str:
        """Return the table as readable text."""
        with pl.Config(
            tbl_hide_column_data_types=True,
            tbl_rows=-1,
            tbl_cols=-1,
            tbl_width_chars=160,
            tbl_hide_dataframe_shape=True,
            float_precision=3,
        ):
            return f"{self.cell} answers one new claim that {self.push} it\n{self.table}"


def cures(
    run_or_graph: Run | Memory,
    rules: Rules | None = None,
    *,
    cell: str | None = None,
    rep: int = 0,
    push: str = "supports",
    real: Sequence[RealClaims | str | Path] = (),
) -> Cures:
    """Compare what can be done about a loop that rings.

    A lower ceiling: 0.9 of the critical one. Damping: 0.9 of the least 2 (1 − Re λ) / |1 − λ|² over the eigenvalues at the
    fixed point (2 / (1 + L) for a real −L). Masses from stated: no loop is left. Asynchronous: one cell after another. Each
    is run from stated × calibration for 1,000 ticks; then, at its fixed point, a new verified claim of confidence 0.9
    supports `cell`, and the answer is measured by the definitions of python-control's `step_info`, in ticks.

    Parameters
    ----------
    run_or_graph, rules
        As for `stability`.
    cell
        The cell that answers; the one that swings most, if None.
    push
        What the new claim does to it: supports or contradicts.
    real
        Claims with truth, or their folders, answered under each cure.
    """
    if push not in PUSHES:
        raise UsageError("no such push", where="cures: push", given=push, allowed=", ".join(PUSHES))
    claims = [one if isinstance(one, RealClaims) else read_real(one) for one in real]
    result = stability(run_or_graph, rules)
    memory, choices = result.memory, _cures(result)
    name = _cell(result, cell, rep)
    after = _with_claim(result, name, rep, push)
    row = memory.cells.select(pl.arg_where((pl.col("handle") == name) & (pl.col("rep") == rep))).item()
    rows, answers = [], []
    for cure in choices:
        loop = TickLoop.of(memory, cure.rules)
        ends = of_trail(loop, memory, tick=cure.tick(loop))
        moving = ends.filter(pl.col("period") != 1)
        answer = _answer(cure, loop, TickLoop.of(after, cure.rules), row)
        rows.append(
            {
                "cure": cure.name, "setting": cure.setting, "verdict": word(ends),
                "moving": moving.height / ends.height, "amplitude": moving["amplitude"].max() or 0.0,
                "before": answer[0], "after": answer[-1], **_step(answer),
            }
        )  # fmt: skip
        answers.append(pl.DataFrame({"cure": cure.name, "tick": np.arange(TICKS + 1), "effective": answer[:-1]}))
    accuracies = [
        {
            "cure": cure.name,
            "data": one.name,
            **one.accuracy(cure.rules, afterwards=settle_one_by_one if cure.one_by_one else None),
        }
        for one in claims
        for cure in choices
    ]
    schema = {"cure": pl.String, "data": pl.String, "accuracy": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return Cures(
        cell=name, push=push, table=pl.DataFrame(rows, infer_schema_length=None), response=pl.concat(answers),
        real=pl.DataFrame(accuracies, schema=schema),
    )  # fmt: skip


def _cures(result: Stability) -> list[Cure]:
    rules, ceiling = result.rules, result.critical_ceiling
    lower = rules.challenge_ceiling if ceiling is None else min(BELOW * ceiling, rules.challenge_ceiling)
    bound = damping_bound(result.eigenvalues)
    share = min(rules.damping, BELOW * bound) if bound > 0.0 else rules.damping
    damping = f"damping {share:.3g}" if bound > 0.0 else "damping: none settles it"
    return [
        Cure("present", f"challenge ceiling {rules.challenge_ceiling:.3g}", rules),
        Cure("lower ceiling", f"challenge ceiling {lower:.3g}", rules.replace(challenge_ceiling=lower)),
        Cure("damping", damping, rules.replace(damping=share)),
        Cure("masses from stated", "mass_from stated", rules.replace(mass_from="stated")),
        Cure("asynchronous", "one cell after another", rules, one_by_one=True),
    ]


def _cell(result: Stability, cell: str | None, rep: int) -> str:
    """Return the cell asked for, or the active one that swings most; the first of equals."""
    if cell is not None:
        return result.memory.head(cell, rep=rep)
    active = result.cells.filter((pl.col("rep") == rep) & pl.Series(result.loop.active))
    if active.is_empty():
        raise UsageError("no active cell to contradict", where="cures: rep", given=rep)
    return str(active.sort(pl.col("amplitude").fill_null(0.0), descending=True, maintain_order=True)["cell"][0])


def _with_claim(result: Stability, cell: str, rep: int, push: str) -> Memory:
    """Return the memory after one new verified claim of confidence 0.9 about a cell."""
    memory = result.memory
    claim = {
        "rep": rep, "kind": "obs", "t": float(memory.cells["touched"].to_numpy().max()), "writer": "one who knows better",
        "title": f"on what {cell} says", "confidence": CONFIDENCE, "verification": "external",
        "edges": [{"relation": push, "target": cell}],
    }  # fmt: skip
    after, verdicts = admit(memory, [claim], result.rules)
    if after.cells.height == memory.cells.height:
        raise UsageError(
            "the gate refused the claim about it", where="cures: cell", given=cell, hint=str(verdicts["issues"][0])
        )
    return after


def _answer(cure: Cure, before: TickLoop, after: TickLoop, row: int) -> Array:
    """Return the cell's value at rest, at each tick after the contradiction, and finally at its new fixed point."""
    undamped = replace(before, damping=1.0), replace(after, damping=1.0)
    rest, end = (polished(loop, *fixed_point(loop))[0] for loop in undamped)
    tick, worth = cure.tick(after), np.append(rest, after.start[len(rest) :])
    values = [worth[row]]
    for _ in range(TICKS):
        worth = tick(worth)
        values.append(worth[row])
    return np.array([*values, end[row]])


def _step(answer: Array) -> dict[str, float | None]:
    """Rise time, settling time (ticks) and overshoot (percent) of the way from before to after; null where never."""
    way, final = answer[:-1] - answer[0], float(answer[-1] - answer[0])
    if abs(final) <= STILL:
        return dict.fromkeys(STEP_METRICS)
    ticks = np.arange(len(way), dtype=np.float64)
    values = {name: float(measure(name, ticks, way[:, None], final=final)[0]) for name in STEP_METRICS}
    return {name: value if np.isfinite(value) else None for name, value in values.items()}
