"""What follows the lines of a push: signals, disputes, what earns little trust, what must be opened, three reminders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from malsim.memory.law import penalises

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from malsim.memory.rules import Rules

__all__ = ["NO_SECTIONS", "REMINDERS", "Sections", "sections"]

Dispute: TypeAlias = "tuple[str, str, float, str, float | None]"
REMINDERS = "open ^ before relying on it; write back what you learn; supersede only on real change"


@dataclass(frozen=True)
class Sections:
    """The sections of a push: `conflicts` and `low_trust` have a line each, `expand` the handles that must be opened.

    `unproven` names the writers whose calibration rests on too few outcomes to be other than 1, with how many of how many;
    `signals` are the lines that standing signals raise.
    """

    conflicts: tuple[str, ...] = ()
    low_trust: tuple[str, ...] = ()
    expand: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()

    @property
    def words(self) -> int:
        """How many words they cost; their names are not counted."""
        own = (*self.signals, *self.conflicts, *self.low_trust, *self.expand, *self.unproven)
        return sum(len(line.split()) for line in own)

    def __str__(self) -> str:
        """The sections that hold anything, and the reminders."""
        parts = (("signals", self.signals), ("conflicts", self.conflicts), ("stale or low trust", self.low_trust))
        lines = [line for name, own in parts if own for line in (f"{name}:", *(f"  {one}" for one in own))]
        lines += [f"too few outcomes to calibrate: {'; '.join(self.unproven)}"] * bool(self.unproven)
        lines += [f"EXPAND REQUIRED: {' '.join(self.expand)}"] * bool(self.expand)
        return "\n".join([*lines, f"remember: {REMINDERS}"])


NO_SECTIONS = Sections()


def sections(
    cells: Sequence[Mapping[str, Any]],
    disputes: Iterable[Dispute],
    outcomes: Iterable[tuple[str, int]],
    now: float,
    rules: Rules,
    *,
    budget: int,
    surfaced: Sequence[str] = (),
) -> Sections:
    """The sections of the cells shown, as far as a budget of words goes.

    What signals raise comes first, then what must be opened, disputes, low trust, and writers with too few outcomes.

    Parameters
    ----------
    shown
        One a line: handle, stated, effective, currency, status, reverify, marked.
    disputes
        The contradicts and concerns edges of active cells into these: source, relation, weight, target, effective.
    outcomes
        The writers of these, with how many outcomes their calibration rests on.
    now
        Days.
    surfaced
        The lines that standing signals raise.
    """
    signals, left = _within(surfaced, budget)
    expand, left = _within([str(cell["handle"]) for cell in cells if cell["marked"]], left)
    conflicts, left = _within([_dispute(*one) for one in disputes], left)
    low, left = _within([line for cell in cells if (line := _doubt(cell, now, rules))], left)
    history = rules.calibration_history if penalises(rules) else 0
    few, _ = _within([f"{writer} {count} of {history}" for writer, count in outcomes if count < history], left)
    return Sections(conflicts, low, expand, few, signals)


def _within(lines: Sequence[str], budget: int) -> tuple[tuple[str, ...], int]:
    """As many of the lines as a budget of words holds, and what is left of it."""
    within = []
    for line in lines:
        if len(line.split()) > budget:
            break
        within.append(line)
        budget -= len(line.split())
    return tuple(within), budget


def _dispute(source: str, relation: str, weight: float, target: str, effective: float | None) -> str:
    return f"{source} {relation} {target}({weight:g}) eff({_two(effective)})"


def _doubt(cell: Mapping[str, Any], now: float, rules: Rules) -> str:
    """Each reason for little trust, in words that the lines use; none for a cell that has none."""
    stated, effective, currency, until = (cell[name] for name in ("stated", "effective", "currency", "reverify"))
    weak = None not in (stated, effective) and effective < rules.challenged_below * stated
    reasons = [f"eff({_two(effective)}) of conf({_two(stated)})"] * weak
    reasons += [f"curr({_two(currency)})"] * (currency is not None and currency < rules.stale_below)
    reasons += ["past its date"] * (until is not None and until < now) + ["superseded"] * (cell["status"] == "superseded")
    return f"{cell['handle']} {', '.join(reasons)}" if reasons else ""


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
