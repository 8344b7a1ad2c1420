"""Progress output of `malsim test`: a line per file, annotations for GitHub, moved baselines, the slowest files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.base.plain_text import one_line
from malsim.scenario.baseline.recording import approved_version, first_difference
from malsim.scenario.checks.checks import BaselineCheck
from malsim.scenario.judge.suite_summary import details, errors_of, headline, notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.scenario.judge.judge import Judged, Outcome

SLOWEST = 3
WORDS = {"pass": "passed", "fail": "failed", "error": "could not be judged"}


def file_lines(judged: Judged, options: str = "", *, strict: bool = False) -> Iterator[str]:
    path = judged.scenario.path
    if judged.error:
        yield from errors_of(path, judged.error)
    elif not judged.scenario.checks:
        yield f"{path}:1: nothing is checked"
    yield from notes(judged, strict=strict)
    for outcome in judged.outcomes:
        yield from outcome_lines(judged, outcome, options)
    counts = [f"{count} {WORDS[status]}" for status in WORDS if (count := _count(judged, status))]
    yield one_line(
        f"{path}: {', '.join(counts) or ('could not be run' if judged.error else 'run')} in {judged.seconds:.1f} s"
    )


def _count(judged: Judged, status: str) -> int:
    return sum(outcome.status == status for outcome in judged.outcomes)


def outcome_lines(judged: Judged, outcome: Outcome, options: str = "") -> Iterator[str]:
    yield headline(judged, outcome)
    if outcome.status == "fail":
        yield from (f"  {line}" for line in details(judged, outcome, options))


def github_lines(judged: Judged, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a workflow command of GitHub for each check that does not pass, at its file and line.

    The format is the one of GitHub's documentation: `::error file=…,line=…,title=…::message`. Percent signs and line breaks
    are escaped, in properties also colons and commas; control characters of a file are written out before.
    """
    for line in errors_of(judged.scenario.path, judged.error) if judged.error else ():
        number, _, message = line.removeprefix(f"{one_line(judged.scenario.path)}:").split(":", 2)
        yield annotation(judged.scenario.path, number, "could not be run", message.strip())
    for outcome in outcomes:
        if outcome.status != "pass":
            title = f"{outcome.check.name} ({outcome.status})"
            yield annotation(judged.scenario.path, str(outcome.check.line), title, outcome.message.partition("\n")[0])


def annotation(path: str, line: str, title: str, message: str) -> str:
    """Return one annotation.

    >>> annotation("a,b.toml", "3", "x: y", "50 % wrong")
    '::error file=a%2Cb.toml,line=3,title=x%3A y::50 %25 wrong'
    """
    properties = ",".join(
        f"{key}={_escaped(value, ':,')}" for key, value in (("file", path), ("line", line), ("title", title))
    )
    return f"::error {properties}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    text = one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return "".join(f"%{ord(letter):02X}" if letter in more else letter for letter in text)


def moved_baselines(suite: Sequence[Judged]) -> Iterator[str]:
    for judged in suite:
        for outcome in judged.outcomes:
            if isinstance(outcome.check, BaselineCheck) and outcome.status == "fail" and outcome.comparison:
                path, change = judged.scenario.path, first_difference(outcome.comparison)
                if version := approved_version(judged.scenario):
                    yield one_line(f"{path}: since {version}: {change}")


def closing(suite: Sequence[Judged], goals: Sequence[tuple[Judged, Outcome]], options: str = "") -> Iterator[str]:
    for judged, outcome in goals:
        yield from outcome_lines(judged, outcome, options)
    moved = list(moved_baselines(suite))
    if moved:
        yield "baselines moved by an upgrade of malsim, to be approved with --approve:"
        yield from (f"  {line}" for line in moved)
    if len(suite) > SLOWEST:
        slow = sorted(suite, key=lambda judged: -judged.seconds)[:SLOWEST]
        yield f"slowest: {', '.join(one_line(f'{item.scenario.path} {item.seconds:.1f} s') for item in slow)}"
