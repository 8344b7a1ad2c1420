"""Scorecard of a tripwire, available as text, figure, HTML page, JSON, and JUnit XML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from malsim.lab.tripwire.boolean.statics import levels_of
from malsim.lab.tripwire.runs.observation import netlist_of
from malsim.showing.pages import tripwire_page as html
from malsim.showing.pages.tripwire_page import coverage_lines, entry, fault_lines, mutant_lines, score_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from malsim.lab.tripwire.boolean.card import Card
    from malsim.lab.tripwire.boolean.statics import Finding
    from malsim.lab.tripwire.runs.silence import Receipt
    from malsim.scenario.proof.questions.answer import SafetyAnswer
    from malsim.showing.plots.style import Sheet
    from malsim.showing.plots.wiring.tripwire import CardFrames
    from malsim.sim.settings.scenario import Scenario

STANDING = 0.5  # maximum share of quiet ticks with the alarm on; above that, the tripwire is flawed


@dataclass(frozen=True)
class CardVerdict:
    """Overall verdict on a tripwire, which is never better than the worst safety answer.

    Parameters
    ----------
    headline
        One sentence.
    flaws
        Pairs (line, sentence), one per flaw, sorted by line.
    code
        Exit code: 0 if the tripwire is alive, has no flaw, and has a sound answer and no undecided one; otherwise 1.
    """

    headline: str
    flaws: tuple[tuple[int, str], ...]
    code: int


def flaws_of(answers: Iterable[SafetyAnswer], findings: Iterable[Finding]) -> list[tuple[int, str]]:
    """Return the flaws found by the safety answers and in the netlist itself, as (line, sentence) pairs sorted by line."""
    flaws = [(answer.line, answer.sentence) for answer in answers if answer.flaw]
    flaws += [(finding.fault.line, f"FLAW (line {finding.fault.line}), {finding.kind}: {finding.fault.problem}")
              for finding in findings if finding.kind != "wiring"]  # fmt: skip
    return sorted(set(flaws))


def verdict_of(
    receipt: Receipt, answers: Sequence[SafetyAnswer], findings: Sequence[Finding], scores: pl.DataFrame
) -> CardVerdict:
    """Return the overall verdict on a tripwire. Dead or blind outranks flawed, and flawed outranks undecided."""
    flaws = flaws_of(answers, findings)
    standing = scores.filter(metric="standing")["value"].head(1).to_list()
    if standing and standing[0] is not None and standing[0] > STANDING:
        problem = f"the alarm is on in {standing[0]:.0%} of the quiet ticks; change its level or its polarity"
        flaws.append((0, f"FLAW: {problem}"))
    counts = {status: sum(answer.status == status for answer in answers) for status in ("sound", "not decided", "not asked")}
    if not receipt.alive:
        return CardVerdict(receipt.verdict + (f"; {_count(len(flaws), 'flaw')} below" if flaws else ""), tuple(flaws), 1)
    if flaws:
        headline = f"flawed: {_count(len(flaws), 'flaw')}, so neither its silence nor its alarm can be trusted"
        return CardVerdict(headline, tuple(flaws), 1)
    if counts["not decided"]:
        headline = f"unproved: {_count(counts['not decided'], 'question')} not decided within the time limit"
        return CardVerdict(headline, (), 1)
    if not counts["sound"]:
        return CardVerdict(f"unproved: {receipt.reason} in these runs, but nothing is proved for other inputs", (), 1)
    rest = f", {counts['not asked']} not asked" if counts["not asked"] else ""
    return CardVerdict(f"alive: {receipt.reason}; {_count(counts['sound'], 'answer')} sound{rest}", (), 0)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number != 1 else ''}"


@dataclass(frozen=True)
class Scorecard:
    """Scorecard of a tripwire. A notebook displays its figure, and `print` shows its text.

    Parameters
    ----------
    name, alarm
        Name of the netlist, and name of its alarm signal.
    findings
        Faults found without running the netlist.
    card
        Truth table of the netlist's Boolean part; None if it has no such part or a too large one (see `no_card`).
    scores
        One row per metric for the tripwire and for the CUSUM and EWMA charts; see `episode_scores.scores`.
    coverage, mutants, faults
        See `card.coverage`, `mutation_results.mutation_results`, `fault_matrix.matrix`; empty if not run.
    receipt
        Evidence on whether silence of the alarm means that all is well.
    proofs
        Safety questions with their answers over all inputs, or the reason why they were not asked.
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
        """Share of mutants that a check or proof caught, out of all caught and uncaught mutants; None if there are none."""
        counts = dict(self.mutants["verdict"].value_counts().rows())
        ran = counts.get("caught", 0) + counts.get("not caught", 0)
        return counts.get("caught", 0) / ran if ran else None

    @property
    def uncaught(self) -> list[str]:
        """Mutants that no check and no proof caught, with their lines."""
        return _not_caught(self.mutants)

    @property
    def coverage_share(self) -> float | None:
        """Share of the rows in `coverage` that the run showed (output values, deciding inputs, goals); None without rows."""
        return float(self.coverage["shown"].to_numpy().mean()) if self.coverage.height else None

    @property
    def figure(self) -> Sheet:
        """Figure with the watched signals, the alarm, the truth table, operating points, mutants, and faults."""
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
        """True if there is only one replication, in which case no intervals are shown."""
        return self.scenario.replications == 1

    @property
    def must_be_caught(self) -> list[str]:
        """Uncaught mutants that the checks should have caught. Shifted thresholds are exempt."""
        return _not_caught(self.mutants.filter(pl.col("kind") != "threshold"))

    @property
    def html(self) -> str:
        """Scorecard as a self-contained HTML page."""
        from malsim.showing.plots.wiring.tripwire import panels

        scenario = self.scenario
        faults = [(finding.kind, finding.fault) for finding in self.findings]
        findings = [[kind, fault.where, fault.problem, fault.hint] for kind, fault in faults]
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
        return html.page(
            panels(self._frames), sections, name=f"{self.name}: {self.alarm}", why=scenario.why, facts=facts,
            verdict=self.verdict.headline, flaws=[sentence for _, sentence in self.verdict.flaws],
            bad=bool(self.verdict.code), watched=self.receipt.watched,
        )  # fmt: skip

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_png_(self) -> bytes:
        return self.figure._repr_png_()

    def _lines(self) -> Iterator[str]:
        scenario = self.scenario
        yield f"{self.name} in {scenario.name}: alarm {self.alarm}, {replications(scenario)} of {scenario.days:g} days"
        yield f"  verdict    {self.verdict.headline}"
        yield f"             {self.receipt.watched}"
        yield from entry("", [text for _, text in self.verdict.flaws], "")
        notes = [str(finding.fault) for finding in self.findings if finding.kind == "wiring"]
        yield from entry("wiring", notes, "no fault found")
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


def _not_caught(mutants: pl.DataFrame) -> list[str]:
    rows = mutants.filter(pl.col("verdict") == "not caught").select("line", "what").rows()
    return [f"line {line}: {what}" for line, what in rows]


def replications(scenario: Scenario) -> str:
    """Return the number of replications as text, for example `20 replications`."""
    return f"{scenario.replications} replication{'s' if scenario.replications > 1 else ''}"
