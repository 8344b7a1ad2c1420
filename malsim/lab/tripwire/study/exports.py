"""Export of tripwire scorecards as JSON, and as JUnit XML for CI services."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import polars as pl

from malsim.base.plain_text import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.tripwire.study.scorecard import Scorecard

TAGS = {"sound": "", "FLAW": "failure", "not decided": "error", "not asked": "skipped",
        "caught": "", "not caught": "failure", "crashed": "error", "equal": "skipped"}  # fmt: skip


def json_text(card: Scorecard) -> str:
    """Return a scorecard as JSON text."""
    scenario, receipt = card.scenario, card.receipt
    answers = [{"status": answer.status, "question": answer.question, "how": answer.how, "line": answer.line or None}
               for answer in card.proofs]  # fmt: skip
    findings = [{"kind": finding.kind, "name": finding.name, "line": finding.fault.line, "problem": finding.fault.problem}
                for finding in card.findings]  # fmt: skip
    facts: dict[str, Any] = {
        "name": card.name, "alarm": card.alarm, "scenario": scenario.path, "seed": scenario.seed, "days": scenario.days,
        "replications": scenario.replications, "verdict": card.verdict.headline, "exit_code": card.verdict.code,
        "flaws": [{"line": line or None, "flaw": flaw} for line, flaw in card.verdict.flaws],
        "silence": {"verdict": receipt.verdict, "ticks": receipt.ticks[0], "last_test": receipt.last_test,
                    "silent": receipt.silent.value, "tripped": receipt.tripped.value, "blind": receipt.blind.value,
                    "inputs": receipt.inputs.to_dicts()},
        "findings": findings, "answers": answers,
        "truth_table": card.card.rows.to_dicts() if card.card else [],
        "scores": card.scores.to_dicts(), "coverage": card.coverage.to_dicts(), "coverage_share": card.coverage_share,
        "mutants": card.mutants.to_dicts(), "mutation_score": card.mutation_score, "faults": card.faults.to_dicts(),
        "timeline": card.timeline.to_dicts(), "watched": card.watched.to_dicts(),
    }  # fmt: skip
    return json.dumps(_finite(facts), ensure_ascii=False, indent=1) + "\n"


def _finite(value: Any) -> Any:
    """Replace infinities and NaN with None, including inside lists and dictionaries."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def junit_text(card: Scorecard) -> str:
    """Return a scorecard as JUnit XML with three test suites: silence, safety (answers and flaws), and mutants.

    A mutant whose level is changed by a fifth need not be caught; if no check fails on it, it is reported as skipped.
    """
    root = ET.Element("testsuites", name="malsim")
    status = "" if card.receipt.alive else "failure"
    silence = [("the alarm works and its inputs are fresh", 1, status, card.receipt.verdict)]
    for name, cases in (("silence", silence), ("safety", _safety(card)), ("mutants", _mutants(card))):
        suite = ET.SubElement(root, "testsuite", name=plain_text(f"{card.name}: {name}"))
        for title, line, tag, message in cases:
            attributes = {"name": plain_text(title), "classname": suite.get("name", ""), "line": str(line or 1)}
            case = ET.SubElement(suite, "testcase", {**attributes, "file": plain_text(card.scenario.path)})
            if tag:
                ET.SubElement(case, tag, message=plain_text(message))
        for key, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(key, str(len(list(suite.iter(tag)))))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _safety(card: Scorecard) -> Iterator[tuple[str, int, str, str]]:
    for answer in card.proofs:
        yield answer.question, answer.line, TAGS[answer.status], answer.how
    answered = {answer.sentence for answer in card.proofs}
    yield from ((flaw, line, "failure", flaw) for line, flaw in card.verdict.flaws if flaw not in answered)


def _mutants(card: Scorecard) -> Iterator[tuple[str, int, str, str]]:
    for row in card.mutants.sort(pl.col("line"), maintain_order=True).to_dicts():
        tag = TAGS[row["verdict"]]
        if tag == "failure" and row["kind"] == "threshold":
            tag = "skipped"
        yield f"{row['kind']}: {row['what']}", row["line"], tag, row["by"] or "no check and no proof notices"
