"""Comparison of cures for an oscillating loop by verdict, speed of response, and final values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.stability.analysis import stability
from malsim.lab.stability.fixed_point import fixed_point, polished
from malsim.lab.stability.frequency import damping_bound
from malsim.lab.stability.loop import TickLoop
from malsim.lab.stability.simulate import of_trail, word
from malsim.memory import Memory, Rules, admit
from malsim.scenario.checks.series_metrics import measure

if TYPE_CHECKING:
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


@dataclass(frozen=True, kw_only=True, repr=False)
class Cures:
    """Comparison of an oscillating loop with three cures: a lower ceiling, damping, and masses of stated confidence.

    `table` has one row per cure: cure, setting; verdict, moving (share of cells that never come to rest) and amplitude of
    ticks from stated × calibration; and the step response of `cell`, from rest, to a new claim: before, after, rise_time
    and settling_time (ticks; null: never), overshoot (percent). `response` has cure, tick, effective.
    """

    cell: str
    push: str
    table: pl.DataFrame
    response: pl.DataFrame

    def figure(self, *, title: str = "Step response and remaining oscillation of a cell under each cure") -> Sheet:
        """Plot the step response of a cell and the remaining amplitude of oscillation under each cure."""
        from malsim.showing.plots.studies.loop_charts import cures as draw

        return draw(self.table, self.response, cell=self.cell, title=title)

    def __repr__(self) -> str:
        shape: dict[str, Any] = {"tbl_rows": -1, "tbl_cols": -1, "tbl_width_chars": 160, "float_precision": 3}
        with pl.Config(tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, **shape):
            return f"response of {self.cell} to a new claim that {self.push} it\n{self.table}"


def cures(
    run_or_graph: Run | Memory, rules: Rules | None = None, *, cell: str | None = None, rep: int = 0, push: str = "supports"
) -> Cures:
    """Compare an oscillating loop with three cures: a lower challenge ceiling, damping, and masses from stated confidence.

    The cures are 0.9 of the critical challenge ceiling; a damping of 0.9 times the smallest 2 (1 − Re λ) / |1 − λ|² over
    the eigenvalues at the fixed point (2 / (1 + L) for λ = −L); and masses from stated confidence, without a loop. Each
    loop is run from stated × calibration for 1,000 ticks. Then, at its fixed point, a new verified claim of confidence 0.9
    is added, and the step response of `cell` is measured in ticks as python-control's `step_info` defines it.

    Parameters
    ----------
    run_or_graph, rules
        See `stability`.
    cell
        The cell whose response is measured; if None, the cell with the largest amplitude.
    push
        Relation of the new claim to this cell: supports or contradicts.
    """
    if push not in PUSHES:
        raise UsageError("no such relation", where="cures: push", given=push, allowed=", ".join(PUSHES))
    result = stability(run_or_graph, rules)
    memory = result.memory
    name = _cell(result, cell, rep)
    after = _with_claim(result, name, rep, push)
    row = memory.cells.select(pl.arg_where((pl.col("handle") == name) & (pl.col("rep") == rep))).item()
    rows, answers = [], []
    for cure, setting, cure_rules in _cures(result):
        loop = TickLoop.of(memory, cure_rules)
        ends = of_trail(loop, memory)
        moving = ends.filter(pl.col("period") != 1)
        answer = _answer(loop, TickLoop.of(after, cure_rules), row)
        rows.append(
            {
                "cure": cure, "setting": setting, "verdict": word(ends),
                "moving": moving.height / ends.height, "amplitude": moving["amplitude"].max() or 0.0,
                "before": answer[0], "after": answer[-1], **_step(answer),
            }
        )  # fmt: skip
        answers.append(pl.DataFrame({"cure": cure, "tick": np.arange(TICKS + 1), "effective": answer[:-1]}))
    return Cures(cell=name, push=push, table=pl.DataFrame(rows, infer_schema_length=None), response=pl.concat(answers))


def _cures(result: Stability) -> list[tuple[str, str, Rules]]:
    """Return the name, the changed setting and the rules of each cure, starting with the present rules."""
    rules, ceiling = result.rules, result.critical_ceiling
    lower = rules.challenge_ceiling if ceiling is None else min(BELOW * ceiling, rules.challenge_ceiling)
    bound = damping_bound(result.eigenvalues)
    share = min(rules.damping, BELOW * bound) if bound > 0.0 else rules.damping
    damping = f"damping {share:.3g}" if bound > 0.0 else "damping: none settles it"
    return [
        ("present", f"challenge ceiling {rules.challenge_ceiling:.3g}", rules),
        ("lower ceiling", f"challenge ceiling {lower:.3g}", rules.replace(challenge_ceiling=lower)),
        ("damping", damping, rules.replace(damping=share)),
        ("masses from stated", "mass_from stated", rules.replace(mass_from="stated")),
    ]


def _cell(result: Stability, cell: str | None, rep: int) -> str:
    """Return the handle of the given cell or, by default, of the active cell with the largest amplitude."""
    if cell is not None:
        return result.memory.head(cell, rep=rep)
    active = result.cells.filter((pl.col("rep") == rep) & pl.Series(result.loop.active))
    if active.is_empty():
        raise UsageError("this replication has no active cells", where="cures: rep", given=rep)
    return str(active.sort(pl.col("amplitude").fill_null(0.0), descending=True, maintain_order=True)["cell"][0])


def _with_claim(result: Stability, cell: str, rep: int, push: str) -> Memory:
    """Return the memory after a new verified claim with confidence 0.9 that supports or contradicts a cell."""
    memory = result.memory
    claim = {
        "rep": rep, "kind": "obs", "t": float(memory.cells["touched"].to_numpy().max()), "writer": "reviewer",
        "title": f"about {cell}", "confidence": CONFIDENCE, "verification": "external",
        "edges": [{"relation": push, "target": cell}],
    }  # fmt: skip
    admission = admit(memory, [claim], result.rules)
    if admission.memory.cells.height == memory.cells.height:
        problem, hint = "the gate refused the claim about this cell", str(admission.verdicts["issues"][0])
        raise UsageError(problem, where="cures: cell", given=cell, hint=hint)
    return admission.memory


def _answer(before: TickLoop, after: TickLoop, row: int) -> Array:
    """Return the cell's values at rest, after each tick that follows the new claim, and at the new fixed point."""
    undamped = replace(before, damping=1.0), replace(after, damping=1.0)
    rest, end = (polished(loop, *fixed_point(loop))[0] for loop in undamped)
    worth = np.append(rest, after.start[len(rest) :])
    values = [worth[row]]
    for _ in range(TICKS):
        worth = after.tick(worth)
        values.append(worth[row])
    return np.array([*values, end[row]])


def _step(answer: Array) -> dict[str, float | None]:
    """Return the rise and settling times (ticks) and the overshoot (percent) of a step response; None where undefined."""
    response, final = answer[:-1] - answer[0], float(answer[-1] - answer[0])
    if abs(final) <= STILL:
        return dict.fromkeys(STEP_METRICS)
    ticks = np.arange(len(response), dtype=np.float64)
    values = {name: float(measure(name, ticks, response[:, None], final=final)[0]) for name in STEP_METRICS}
    return {name: value if np.isfinite(value) else None for name, value in values.items()}
