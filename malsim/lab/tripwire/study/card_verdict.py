"""The verdict on a tripwire: never more than its weakest answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from malsim.lab.tripwire.boolean.statics import Finding
    from malsim.lab.tripwire.runs.silence import Receipt
    from malsim.scenario.proof.questions.answer import SafetyAnswer

STANDING = 0.5  # share of the quiet ticks beyond which an alarm that is up says nothing


@dataclass(frozen=True)
class CardVerdict:
    """The headline of a scorecard, and the exit code that follows it.

    Parameters
    ----------
    headline
        One sentence.
    flaws
        Each flaw with its line, sorted by line.
    code
        0 where the tripwire is alive and no answer is against it, else 1.
    """

    headline: str
    flaws: tuple[tuple[int, str], ...]
    code: int


def flaws_of(answers: Iterable[SafetyAnswer], findings: Iterable[Finding]) -> list[tuple[int, str]]:
    """Return what the proofs and the netlist alone show to be wrong, as (line, sentence), sorted by line."""
    flaws = [(answer.line, answer.sentence) for answer in answers if answer.flaw]
    flaws += [(item.fault.line, f"FLAW (line {item.fault.line}), {item.kind}: {item.fault.problem}")
              for item in findings if item.kind != "wiring"]  # fmt: skip
    return sorted(set(flaws))


def verdict_of(
    receipt: Receipt, answers: Sequence[SafetyAnswer], findings: Sequence[Finding], scores: pl.DataFrame
) -> CardVerdict:
    """Return the verdict: a flaw outweighs what is not decided, and that a run that went well."""
    flaws = flaws_of(answers, findings)
    up = scores.filter(metric="standing")["value"].head(1).to_list()
    if up and up[0] is not None and up[0] > STANDING:
        flaws.append((0, f"FLAW: the alarm is up on {up[0]:.0%} of the quiet ticks; lower its level, or turn its polarity"))
    undecided = [item for item in answers if item.status == "not decided"]
    unasked = [item for item in answers if item.status == "not asked"]
    if not receipt.alive:
        return CardVerdict(receipt.verdict + (f"; {_count(len(flaws), 'flaw')} below" if flaws else ""), tuple(flaws), 1)
    if flaws:
        return CardVerdict(
            f"flawed: {_count(len(flaws), 'flaw')}, so neither its silence nor its alarm can be trusted", tuple(flaws), 1
        )
    if undecided:
        return CardVerdict(f"unproved: {_count(len(undecided), 'question')} not decided within the time limit", (), 1)
    if not any(item.status == "sound" for item in answers):
        return CardVerdict(f"unproved: {receipt.reason} in these runs, but nothing is proved for other inputs", (), 1)
    rest = f", {len(unasked)} not asked" if unasked else ""
    sound = sum(item.status == "sound" for item in answers)
    return CardVerdict(f"alive: {receipt.reason}; {_count(sound, 'answer')} sound{rest}", (), 0)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number != 1 else ''}"
