"""Summary of a suite as text and as JUnit XML, which count failures and errors separately."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from malsim.base.plain_text import one_line, plain_text
from malsim.scenario.file.scenario_file import holds_rules_alone
from malsim.scenario.judge.judge import goals
from malsim.scenario.properties.witness import margin_text
from malsim.sim.why.refused_claims import cap_lines, event_count, refusal_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    import polars as pl

    from malsim.scenario.judge.judge import Judged, Outcome, Status

PASSED, FAILED, BROKEN = 0, 1, 2
TAGS = {"fail": "failure", "error": "error"}


@dataclass(frozen=True, slots=True)
class Suite:
    """Judged scenarios, files that could not be read (path and problem), and the options that reproduce a failure.

    With `strict`, a scenario in which the gate refused a claim fails.
    """

    judged: tuple[Judged, ...]
    unread: tuple[tuple[str, str], ...] = ()
    options: str = ""
    strict: bool = False

    def outcomes(self) -> Iterator[tuple[Judged, Outcome]]:
        """Yield the outcomes of all checks, followed by those of all goals."""
        for judged in self.judged:
            for outcome in judged.outcomes:
                yield judged, outcome
        yield from self.goals()

    def goals(self) -> tuple[tuple[Judged, Outcome], ...]:
        return goals(self.judged)

    def count(self, status: Status) -> int:
        """Count the checks and goals with a status. A file that could not be read or run counts as an error."""
        broken = len(self.unread) + sum(bool(judged.error) for judged in self.judged) if status == "error" else 0
        return broken + sum(outcome.status == status for _, outcome in self.outcomes())

    @property
    def exit_code(self) -> int:
        """Exit code: 0 if all passed, 1 for a failure or (with `strict`) a refused claim, 2 for an error or no checks."""
        if self.count("error") or not self.count("pass") + self.count("fail"):
            return BROKEN
        return FAILED if self.count("fail") or (self.strict and self.refused) else PASSED

    @property
    def refused(self) -> int:
        """Number of claims that the gate refused in all runs. Recorded histories are not counted."""
        runs = [judged.run for judged in self.judged if judged.run is not None and not judged.source]
        return sum(event_count(run.events, run.bands, run.scenario.replications) for run in runs)

    def summary(self) -> str:
        strict = f", claims refused: {self.refused} (--strict)" if self.strict and self.refused else ""
        return f"{self.count('pass')} passed, {self.count('fail')} failed, {self.count('error')} could not be judged{strict}"

    def junit(self) -> str:
        """Return the suite as JUnit XML, with one test suite per file and one test case per check."""
        root = ET.Element("testsuites", name="malsim")
        for path, problem in self.unread:
            _case(_suite(root, path), path, "read", "error", problem, "")
        rows = list(self.outcomes())
        for judged in self.judged:
            suite = _suite(root, judged.scenario.name)
            suite.set("time", f"{judged.seconds:.3f}")
            suite.set("timestamp", judged.started)
            if judged.error:
                _case(suite, judged.scenario.path, "run", "error", judged.error, "")
            if self.strict and (refusals := _claim_lines(judged, refusal_lines)):
                _case(suite, judged.scenario.path, "refused claims", "fail", refusals[0], "\n".join(refusals[1:]))
            for _, outcome in (row for row in rows if row[0] is judged):
                name, line, facts = outcome.check.name, outcome.check.line, facts_of(judged, outcome)
                more = "\n".join(details(judged, outcome, self.options))
                _case(suite, judged.scenario.path, name, outcome.status, headline(judged, outcome), more, line, facts)
        for suite in (root, *root):
            for case in suite.findall("testcase"):  # the checks share one run, so each gets an equal part of its time
                case.set("time", f"{float(suite.get('time', '0')) / len(suite):.3f}")
            for key, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
                suite.set(key, str(len(list(suite.iter(tag)))))
        ET.indent(root)
        return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def errors_of(path: str, problem: str) -> Iterator[str]:
    """Yield each line of a message as `file:line: error: problem`. The line is 1 if the message names none."""
    for line in problem.splitlines():
        match = re.match(rf"{re.escape(path)}:(?:(\d+):)? (.*)", line)
        number, message = (match[1] or "1", match[2]) if match else ("1", line)
        yield one_line(f"{path}:{number}: error: {message}")


def _claim_lines(judged: Judged, report: Callable[[pl.DataFrame, pl.DataFrame, int], list[str]]) -> list[str]:
    """Return the lines of a report on a run's claims; none for a recorded history, since a history has no gate."""
    if judged.run is None or judged.source:
        return []
    return [one_line(line[2:]) for line in report(judged.run.events, judged.run.bands, judged.scenario.replications)]


def notes(judged: Judged, *, strict: bool) -> Iterator[str]:
    """Yield notes about claims that the gate refused or capped. With `strict`, refused claims are reported as failures."""
    where = one_line(f"{judged.scenario.path}:1")
    for line in _claim_lines(judged, refusal_lines):
        yield line if line.startswith("  ") else f"{where}: {'fail' if strict else 'note'}: {line}"
    for line in _claim_lines(judged, cap_lines):
        yield f"{where}: note: {line}"


def headline(judged: Judged, outcome: Outcome) -> str:
    """Format an outcome on one line: `file:line: status: name: message`."""
    message = outcome.message.partition("\n")[0]
    return one_line(f"{judged.scenario.path}:{outcome.check.line}: {outcome.status}: {outcome.check.name}: {message}")


def details(judged: Judged, outcome: Outcome, options: str = "") -> list[str]:
    """Return the details of an outcome as lines of text; the last line is the command that repeats the check alone."""
    lines = [f"asked: {outcome.check.property}"]
    if outcome.margin is not None:
        lines.append(f"margin: {margin_text(outcome.margin)}")
    if outcome.verdict is not None:
        witness = outcome.verdict.margin.witness
        day = "none" if witness.day is None else f"{witness.day:.6g}"
        lines.append(f"replication: {witness.replication}; day: {day}; reads: {', '.join(witness.addresses)}")
        lines += [f"clause: {witness.clause}", f"expected: {witness.expected}", f"got: {witness.got}"]
    if outcome.estimate is not None and not outcome.estimate.passed:
        lines.append(f"replication: {outcome.estimate.farthest} is the farthest outside")
    lines += outcome.message.splitlines()[1:]
    lines += [] if judged.source else [f"seed: {judged.scenario.seed}"]
    lines.append(f"alone: {command(judged, outcome, options)}")
    return [one_line(line) for line in lines]


def facts_of(judged: Judged, outcome: Outcome) -> dict[str, str]:
    """Return the margin, seed and replication of an outcome as text, keyed by name."""
    replication = judged.scenario.first if judged.scenario.replications == 1 else outcome.replication
    facts = {"margin": outcome.margin, "seed": None if judged.source else judged.scenario.seed, "replication": replication}
    return {name: f"{value:g}" for name, value in facts.items() if value is not None}


def scenario_files(paths: Iterable[Path]) -> list[Path]:
    """Return the given files and the scenario files in the given folders."""
    files: list[Path] = []
    for path in paths:
        files += [file for file in sorted(path.rglob("*.toml")) if not holds_rules_alone(file)] if path.is_dir() else [path]
    return files


def command(judged: Judged, outcome: Outcome, options: str = "") -> str:
    """Return the shell command that repeats one check on its own."""
    scenario = judged.scenario
    single = scenario.first if scenario.replications == 1 else outcome.replication
    alone = f" --replications {scenario.replications}" if single is None else f" --replication {single}"
    path, name = shlex.quote(scenario.path or scenario.name), shlex.quote(outcome.check.name)
    if judged.source:
        return f"malsim test {path} --check {name}{judged.source}{options}"
    return f"malsim test {path} --check {name} --seed {scenario.seed}{alone}{options}"


def _suite(root: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(root, "testsuite", name=_clean(name))


def _case(
    suite: ET.Element, path: str, name: str, status: Status, message: str, more: str, line: int = 1,
    facts: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    attributes = {"name": _clean(name), "classname": suite.get("name", ""), "file": _clean(path), "line": str(line)}
    case = ET.SubElement(suite, "testcase", attributes)
    properties = ET.SubElement(case, "properties") if facts else case
    for key, value in (facts or {}).items():
        ET.SubElement(properties, "property", name=key, value=value)
    if status in TAGS:
        ET.SubElement(case, TAGS[status], message=_clean(message)).text = _clean(more)


def _clean(text: str) -> str:
    return re.sub("[\ufffe\uffff]", "", plain_text(text))
