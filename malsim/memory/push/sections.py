"""Sections below the lines of a push: signals, disputes, cells of low trust, cells to open, and reminders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from malsim.base.plain_text import one_line
from malsim.memory.law import penalises

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from malsim.memory.rules import Rules

Dispute: TypeAlias = "tuple[str, str, float, str, float | None]"
SIGNALS, CONFLICTS, LOW_TRUST = "signals:", "conflicts:", "stale or low trust:"
UNPROVEN, EXPAND = "too few outcomes to calibrate:", "EXPAND REQUIRED:"
REMINDERS = "open ^ before relying on it; write back what you learn; supersede only on real change"


@dataclass(frozen=True)
class Sections:
    """Sections of a push, with one line per conflict and per cell of low trust. `expand` holds the handles to open.

    `unproven` has the writers with too few outcomes for a calibration, their number of outcomes and the number needed;
    `signals` are the lines of firing signals; if `reminds`, the three reminders follow.
    """

    conflicts: tuple[str, ...] = ()
    low_trust: tuple[str, ...] = ()
    expand: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    reminds: bool = True

    @property
    def words(self) -> int:
        return len(str(self).split())

    def __str__(self) -> str:
        parts = ((SIGNALS, self.signals), (CONFLICTS, self.conflicts), (LOW_TRUST, self.low_trust))
        lines = [line for name, texts in parts if texts for line in (name, *(f"  {text}" for text in texts))]
        lines += [f"{UNPROVEN} {'; '.join(self.unproven)}"] * bool(self.unproven)
        lines += [f"{EXPAND} {' '.join(self.expand)}"] * bool(self.expand)
        return "\n".join([*lines, *[f"remember: {REMINDERS}"] * self.reminds])


NO_SECTIONS = Sections()


def sections(
    cells: Sequence[Mapping[str, Any]], disputes: Iterable[Dispute], outcomes: Iterable[tuple[str, int]], now: float,
    rules: Rules, *, budget: int, surfaced: Sequence[str] = (), reminds: bool = True,
) -> Sections:  # fmt: skip
    """Return the sections about the cells in a push, cut to a budget of words that does not include the reminders.

    The lines of firing signals (`surfaced`) come first, then cells to open, disputes, cells of low trust, and writers with
    too few outcomes. `cells` has handle, stated, effective, currency, status, reverify and marked per line; `disputes` are
    contradicts and concerns edges of active cells to them (source, relation, weight, target, effective); `outcomes` are
    their writers with the number of outcomes behind their calibration.
    """
    signals, left = _within(surfaced, budget, SIGNALS)
    expand, left = _within([str(cell["handle"]) for cell in cells if cell["marked"]], left, EXPAND)
    lines = [f"{source} {relation} {target}({weight:g}) eff({_two_decimals(effective)})"
             for source, relation, weight, target, effective in disputes]  # fmt: skip
    conflicts, left = _within(lines, left, CONFLICTS)
    low, left = _within([line for cell in cells if (line := _doubt(cell, now, rules))], left, LOW_TRUST)
    history = rules.calibration_history if penalises(rules) else 0
    # If the store was edited by hand, these values may have other types.
    counted = [(writer, count) for writer, count in outcomes if isinstance(writer, str) and isinstance(count, int)]
    records = [f"{one_line(writer)} {count} of {history}" for writer, count in counted if count < history]
    few, _ = _within(records, left, UNPROVEN)
    return Sections(conflicts, low, expand, few, signals, reminds)


def _within(lines: Sequence[str], budget: int, name: str) -> tuple[tuple[str, ...], int]:
    """Return the first lines that fit the budget together with the section's name, and the remaining budget."""
    within, left = [], budget - len(name.split())
    for line in lines:
        if len(line.split()) > left:
            break
        within.append(line)
        left -= len(line.split())
    return tuple(within), left if within else budget


def _doubt(cell: Mapping[str, Any], now: float, rules: Rules) -> str:
    stated, effective, currency, until = (cell[name] for name in ("stated", "effective", "currency", "reverify"))
    weak = None not in (stated, effective) and effective < rules.challenged_below * stated
    reasons = [f"eff({_two_decimals(effective)}) of conf({_two_decimals(stated)})"] * weak
    reasons += [f"curr({_two_decimals(currency)})"] * (currency is not None and currency < rules.stale_below)
    reasons += ["past its date"] * (until is not None and until < now) + ["superseded"] * (cell["status"] == "superseded")
    return f"{cell['handle']} {', '.join(reasons)}" if reasons else ""


def _two_decimals(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
