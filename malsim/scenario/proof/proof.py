"""Result of a question: proved, proved up to a number of ticks, refuted with a trace, or not decided; as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    import polars as pl

    from malsim.scenario.proof.ticks.cut import FreeInput

Result: TypeAlias = Literal["proved", "proved up to", "refuted", "not decided"]


@dataclass(frozen=True)
class Proof:
    """Answer for all inputs.

    Parameters
    ----------
    text, assumptions
        The property, and what was assumed at every tick.
    inputs
        What was free, and within which bounds.
    k, facts
        Of a proof by induction: how many ticks in a row it looks at, and what it knew of every state.
    ticks
        How far runs were followed, or how long the refuting one is.
    trace
        Of a refutation, as the engine replayed it: `t` in days, and every signal, a row a tick.
    """

    result: Result
    text: str
    assumptions: tuple[str, ...]
    inputs: tuple[FreeInput, ...]
    seconds: float
    k: int | None = None
    facts: tuple[str, ...] = ()
    ticks: int | None = None
    trace: pl.DataFrame | None = None

    @property
    def verdict(self) -> str:
        """Verdict in a few words."""
        if self.result == "proved":
            return f"proved by induction over {self.k} tick{'s' if self.k != 1 else ''}" if self.k else "proved"
        if self.result == "proved up to":
            return f"proved up to {self.ticks} ticks"
        return f"refuted in {self.ticks} tick{'s' if self.ticks != 1 else ''}" if self.result == "refuted" else self.result

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {self.text}"]
        lines += [f"  assuming: always {item}" for item in self.assumptions]
        lines += [f"  for all: {', '.join(map(str, self.inputs))}"]
        lines += [f"  knowing of every state: {', '.join(self.facts)}"] if self.facts else []
        if self.trace is not None:
            lines += ["  " + line for line in _table(self.trace)]
        return "\n".join(lines)


def _table(trace: pl.DataFrame) -> list[str]:
    rows = [(name, [_short(item) for item in trace[name].to_list()]) for name in trace.columns]
    width = max(len(name) for name, _ in rows)
    columns = [max(len(values[tick]) for _, values in rows) for tick in range(trace.height)]
    return [" ".join([name.ljust(width), *(item.rjust(size) for item, size in zip(values, columns, strict=True))])
            for name, values in rows]  # fmt: skip


def _short(one: float) -> str:
    return f"{one:.6g}"
