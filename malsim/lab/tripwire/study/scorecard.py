"""The scorecard of a tripwire, as text, figure and page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from malsim.showing.pages import tripwire_page as html
from malsim.showing.pages.tripwire_text import coverage_lines, entry, fault_lines, mutant_lines, score_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.tripwire.boolean.card import Card
    from malsim.lab.tripwire.boolean.statics import Finding
    from malsim.lab.tripwire.runs.silence import Receipt
    from malsim.lab.tripwire.study.card_verdict import CardVerdict
    from malsim.scenario.proof.questions.answer import SafetyAnswer
    from malsim.showing.plots.style import Sheet
    from malsim.sim.settings.scenario import Scenario


@dataclass(frozen=True)
class Scorecard:
    """Every result about a tripwire; a notebook shows its figure, `print` its text.

    Parameters
    ----------
    name, alarm
        The netlist, and the signal that is its alarm.
    findings
        What the netlist alone shows.
    card
        The truth table of its Boolean part; None where it has none, or where that is too large (`no_card` says why).
    scores
        One row a figure and tripwire, CUSUM and EWMA of what it watches beside it: see `episode_scores.scores`.
    coverage, mutants, faults
        See `coverage.coverage`, `mutation_results.mutation_results`, `fault_matrix.matrix`; empty where not asked.
    receipt
        What its silence is worth.
    proofs
        The ready-made questions with their answers for all inputs; or why they were not asked.
    verdict
        The headline, the flaws with their lines, and the exit code.
    timeline
        t, and shares over replications: alarm, truth, blind.
    watched
        signal, t, low, middle, high: of each watched signal the 5 %, 50 % and 95 % quantiles over replications.
    """

    name: str
    alarm: str
    scenario: Scenario
    findings: tuple[Finding, ...]
    card: Card | None
    no_card: str
    scores: pl.DataFrame
    coverage: pl.DataFrame
    mutants: pl.DataFrame
    faults: pl.DataFrame
    receipt: Receipt
    proofs: tuple[SafetyAnswer, ...]
    verdict: CardVerdict
    timeline: pl.DataFrame
    watched: pl.DataFrame

    @property
    def mutation_score(self) -> float | None:
        """Mutants killed by a check or a proof over those that ran and are not proved equal; None where none did."""
        counts = dict(self.mutants["verdict"].value_counts().rows())
        ran = counts.get("killed", 0) + counts.get("survived", 0)
        return counts.get("killed", 0) / ran if ran else None

    @property
    def survivors(self) -> list[str]:
        """The mutants that no check noticed, with their lines."""
        alive = self.mutants.filter(pl.col("verdict") == "survived")
        return [f"line {line}: {what}" for line, what in alive.select("line", "what").rows()]

    @property
    def coverage_share(self) -> float | None:
        """The share of outputs seen both ways and inputs shown to matter on their own."""
        return float(self.coverage["shown"].to_numpy().mean()) if self.coverage.height else None

    @property
    def figure(self) -> Sheet:
        """What it watched and when it rang, its truth table, operating points, mutants and faults."""
        from malsim.showing.plots.wiring.tripwire import scorecard

        card = self.card
        frames = {name: getattr(self, name) for name in ("timeline", "watched", "scores", "mutants", "faults")}
        rows, columns = (card.rows, (card.before, card.inputs, card.outputs)) if card else (pl.DataFrame(), ((), (), ()))
        title = f"{self.name} in {self.scenario.name}. {self.verdict.headline}"
        return scorecard(frames | {"card": rows}, columns, title=title)

    @property
    def html(self) -> str:
        """One self-contained page."""
        scenario = self.scenario
        findings = [[one.kind, one.fault.where, one.fault.problem, one.fault.hint] for one in self.findings]
        heads = ["kind", "where", "what", "try"]
        sections = [
            html.scores(self.scores),
            html.inputs(self.receipt.inputs),
            html.section("What can be said without running it", heads, findings, none="nothing to say"),
            html.answers(self.proofs),
            html.truth_table(str(self.card) if self.card else "", self.no_card),
            html.coverage(self.coverage, self.coverage_share),
            html.mutants(self.mutants, self.mutation_score),
            html.faults(self.faults),
        ]
        facts = f"{scenario.path} · seed {scenario.seed}, {scenario.days:g} days, {scenario.replications} replications"
        name = f"{self.name}: {self.alarm}"
        words = {"name": name, "why": scenario.why, "facts": facts, "verdict": self.verdict.headline}
        flaws = [sentence for _, sentence in self.verdict.flaws]
        bad = bool(self.verdict.code)
        return html.page(self.figure, sections, flaws=flaws, bad=bad, watched=self.receipt.watched, **words)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_png_(self) -> bytes:
        return self.figure._repr_png_()

    def _lines(self) -> Iterator[str]:
        scenario = self.scenario
        size = f"{scenario.replications} replications of {scenario.days:g} days"
        yield f"{self.name} in {scenario.name}: alarm {self.alarm}, {size}"
        yield f"  verdict    {self.verdict.headline}"
        yield f"             {self.receipt.watched}"
        yield from entry("", [text for _, text in self.verdict.flaws], "")
        yield from entry("wiring", [str(finding) for finding in self.findings], "nothing to say")
        for status, head in (("not decided", "undecided"), ("sound", "sound"), ("not asked", "not asked")):
            lines = [f"{one.question}; {one.how}" for one in self.proofs if one.status == status]
            yield from entry(head, lines, "")
        if self.no_card:
            yield f"  states     {self.no_card}"
        if self.card is not None:
            yield "  truth table (* decides)"
            yield from (f"    {line}" for line in str(self.card).split("\n"))
        if scenario.replications == 1:
            yield "  one replication: use --replications 20 for intervals that say something"
        yield from (f"  {line}" for line in score_lines(self.scores))
        if self.coverage_share is not None:
            yield from coverage_lines(self.coverage, self.coverage_share)
        if self.mutation_score is not None:
            yield from mutant_lines(self.mutants, self.survivors, self.mutation_score)
        yield from fault_lines(self.faults)
