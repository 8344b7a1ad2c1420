"""Scorecard of a tripwire, as text, figure, page, JSON and JUnit XML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from malsim.lab.tripwire.boolean.statics import levels_of
from malsim.lab.tripwire.runs.observation import netlist_of
from malsim.showing.pages import tripwire_page as html
from malsim.showing.pages.tripwire_page import coverage_lines, entry, fault_lines, mutant_lines, score_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.tripwire.boolean.card import Card
    from malsim.lab.tripwire.boolean.statics import Finding
    from malsim.lab.tripwire.runs.silence import Receipt
    from malsim.lab.tripwire.study.card_verdict import CardVerdict
    from malsim.scenario.proof.questions.answer import SafetyAnswer
    from malsim.showing.plots.style import Sheet
    from malsim.showing.plots.wiring.tripwire import CardFrames
    from malsim.sim.settings.scenario import Scenario


@dataclass(frozen=True)
class Scorecard:
    """Results about a tripwire; a notebook shows the figure, `print` the text.

    Parameters
    ----------
    name, alarm
        The netlist, and the signal that is its alarm.
    findings
        What can be said of the netlist without running it.
    card
        Truth table of its Boolean part; None if there is none, or if it is too large (`no_card` says why).
    scores
        One row per figure and tripwire, CUSUM and EWMA of the watched signal beside it: see `episode_scores.scores`.
    coverage, mutants, faults
        See `coverage.coverage`, `mutation_results.mutation_results`, `fault_matrix.matrix`; empty if not run.
    receipt
        How long the tripwire watched, and what its silence is worth.
    proofs
        Ready-made questions with their answers for all inputs; or why they were not asked.
    verdict
        Headline, flaws with their lines, and exit code.
    timeline
        t, and the shares of replications with `alarm`, `truth` and `blind` true.
    watched
        signal, t, low, middle, high: 5 %, 50 % and 95 % quantiles over replications of each watched signal.
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
        """Share of mutants that a check or a proof caught, of those that ran and are not proved equal; None if none did."""
        counts = dict(self.mutants["verdict"].value_counts().rows())
        ran = counts.get("caught", 0) + counts.get("not caught", 0)
        return counts.get("caught", 0) / ran if ran else None

    @property
    def uncaught(self) -> list[str]:
        """Mutants that no check and no proof caught, with their lines."""
        alive = self.mutants.filter(pl.col("verdict") == "not caught")
        return [f"line {line}: {what}" for line, what in alive.select("line", "what").rows()]

    @property
    def coverage_share(self) -> float | None:
        """Share of outputs seen both ways and of inputs shown to matter on their own; None if there are none."""
        return float(self.coverage["shown"].to_numpy().mean()) if self.coverage.height else None

    @property
    def figure(self) -> Sheet:
        """Figure of the watched signals and the alarm, truth table, operating points, mutants and faults."""
        from malsim.showing.plots.wiring.tripwire import scorecard

        return scorecard(self._frames, title=f"{self.name} in {self.scenario.name}. {self.verdict.headline}")

    @property
    def _frames(self) -> CardFrames:
        from malsim.showing.plots.wiring.tripwire import CardFrames

        card = self.card
        return CardFrames(
            timeline=self.timeline, watched=self.watched, levels=levels_of(netlist_of(self.scenario).net),
            table=card.table if card else pl.DataFrame(), scores=self.scores, mutants=self.mutants, faults=self.faults,
            columns=(card.before, card.inputs, card.outputs) if card else ((), (), ()), single=self.single,
        )  # fmt: skip

    @property
    def single(self) -> bool:
        """True for one replication, which has no intervals."""
        return self.scenario.replications == 1

    @property
    def must_be_caught(self) -> list[str]:
        """Mutants not caught that a sound tripwire's checks and proofs catch: all but levels moved by a fifth."""
        rows = self.mutants.filter(pl.col("verdict") == "not caught", pl.col("kind") != "threshold")
        return [f"line {line}: {what}" for line, what in rows.select("line", "what").rows()]

    @property
    def html(self) -> str:
        """Self-contained HTML page."""
        from malsim.showing.plots.wiring.tripwire import panels

        scenario = self.scenario
        findings = [[item.kind, item.fault.where, item.fault.problem, item.fault.hint] for item in self.findings]
        heads = ["kind", "where", "problem", "try"]
        sections = [
            html.scores(self.scores, single=self.single),
            html.inputs(self.receipt.inputs),
            html.section("Wiring and states", heads, findings, none="No fault was found."),
            html.answers(self.proofs),
            html.truth_table(str(self.card) if self.card else "", self.no_card),
            html.coverage(self.coverage, self.coverage_share),
            html.mutants(self.mutants, self.mutation_score),
            html.faults(self.faults),
        ]
        facts = f"{scenario.path} · seed {scenario.seed}, {scenario.days:g} days, {replications(scenario)}"
        name = f"{self.name}: {self.alarm}"
        words = {"name": name, "why": scenario.why, "facts": facts, "verdict": self.verdict.headline}
        flaws = [sentence for _, sentence in self.verdict.flaws]
        bad = bool(self.verdict.code)
        return html.page(panels(self._frames), sections, flaws=flaws, bad=bad, watched=self.receipt.watched, **words)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_png_(self) -> bytes:
        return self.figure._repr_png_()

    def _lines(self) -> Iterator[str]:
        scenario = self.scenario
        size = f"{replications(scenario)} of {scenario.days:g} days"
        yield f"{self.name} in {scenario.name}: alarm {self.alarm}, {size}"
        yield f"  verdict    {self.verdict.headline}"
        yield f"             {self.receipt.watched}"
        yield from entry("", [text for _, text in self.verdict.flaws], "")
        yield from entry(
            "wiring", [str(finding.fault) for finding in self.findings if finding.kind == "wiring"], "no fault found"
        )
        for status, head in (("not decided", "undecided"), ("sound", "sound"), ("not asked", "not asked")):
            lines = [f"{answer.question}: {answer.how}" for answer in self.proofs if answer.status == status]
            yield from entry(head, lines, "")
        if self.no_card:
            yield f"  states     {self.no_card}"
        if self.card is not None:
            yield "  truth table (* decides, - makes no difference)"
            yield from (f"    {line}" for line in str(self.card).split("\n"))
        if self.single:
            yield "  one replication: use --replications 20 for intervals"
        yield from (f"  {line}" for line in score_lines(self.scores, single=self.single))
        if self.coverage_share is not None:
            yield from coverage_lines(self.coverage, self.coverage_share)
        if self.mutation_score is not None:
            yield from mutant_lines(self.mutants, self.uncaught, self.mutation_score)
        yield from fault_lines(self.faults)


def replications(scenario: Scenario) -> str:
    """Return the number of replications in words."""
    return f"{scenario.replications} replication{'s' if scenario.replications > 1 else ''}"
