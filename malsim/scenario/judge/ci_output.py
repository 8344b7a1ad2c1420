"""Output of `malsim test`: lines for each file, GitHub annotations, changed baselines, and the slowest files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.base.plain_text import one_line
from malsim.scenario.baseline.recording import approved_version, first_difference
from malsim.scenario.checks.checks import BaselineCheck, Goal
from malsim.scenario.judge.judge import judge
from malsim.scenario.judge.suite_summary import details, errors_of, headline, notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from malsim.scenario.judge.judge import Judged, Outcome

SLOWEST = 3
WORDS = {"pass": "passed", "fail": "failed", "error": "could not be judged"}


def file_lines(judged: Judged, options: str = "", *, strict: bool = False) -> Iterator[str]:
    """Yield the lines printed for one file: notes, the outcome of each check, and the number of checks by outcome."""
    path = judged.scenario.path
    if judged.error:
        yield from errors_of(path, judged.error)
    elif not judged.scenario.checks:
        yield f"{path}:1: nothing is checked"
    yield from notes(judged, strict=strict)
    for outcome in judged.outcomes:
        yield from outcome_lines(judged, outcome, options)
    statuses = [outcome.status for outcome in judged.outcomes]
    counts = [f"{statuses.count(status)} {word}" for status, word in WORDS.items() if status in statuses]
    summary = ", ".join(counts) or ("could not be run" if judged.error else "run")
    yield one_line(f"{path}: {summary} in {judged.seconds:.1f} s")


def outcome_lines(judged: Judged, outcome: Outcome, options: str = "") -> Iterator[str]:
    yield headline(judged, outcome)
    if outcome.status == "fail":
        yield from (f"  {line}" for line in details(judged, outcome, options))


def github_lines(judged: Judged, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield one GitHub workflow command per check that did not pass, with the file and line of the check.

    The format, `::error file=…,line=…,title=…::message`, is documented by GitHub. Percent signs and line breaks are
    escaped; in properties, colons and commas are escaped too.
    """
    for line in errors_of(judged.scenario.path, judged.error) if judged.error else ():
        number, _, message = line.removeprefix(f"{one_line(judged.scenario.path)}:").split(":", 2)
        yield annotation(judged.scenario.path, number, "could not be run", message.strip())
    for outcome in outcomes:
        if outcome.status != "pass":
            title = f"{outcome.check.name} ({outcome.status})"
            yield annotation(judged.scenario.path, str(outcome.check.line), title, outcome.message.partition("\n")[0])


def annotation(path: str, line: str, title: str, message: str) -> str:
    """Format one GitHub error annotation.

    >>> annotation("a,b.toml", "3", "x: y", "50 % wrong")
    '::error file=a%2Cb.toml,line=3,title=x%3A y::50 %25 wrong'
    """
    properties = {"file": path, "line": line, "title": title}
    text = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::error {text}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    text = one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return "".join(f"%{ord(letter):02X}" if letter in more else letter for letter in text)


def closing(suite: Sequence[Judged], goals: Sequence[tuple[Judged, Outcome]], options: str = "") -> Iterator[str]:
    """Yield the lines printed after a suite: goals, baselines changed by a malsim upgrade, and the slowest files."""
    for judged, outcome in goals:
        yield from outcome_lines(judged, outcome, options)
    moved = []
    for judged in suite:
        for outcome in judged.outcomes:
            differs = isinstance(outcome.check, BaselineCheck) and outcome.status == "fail"
            if differs and outcome.comparison and (version := approved_version(judged.scenario)):
                change = f"since {version}: {first_difference(outcome.comparison)}"
                moved.append(one_line(f"{judged.scenario.path}: {change}"))
    if moved:
        yield "baselines moved by an upgrade of malsim, to be approved with --approve:"
        yield from (f"  {line}" for line in moved)
    if len(suite) > SLOWEST:
        slowest = sorted(suite, key=lambda judged: -judged.seconds)[:SLOWEST]
        yield f"slowest: {', '.join(one_line(f'{judged.scenario.path} {judged.seconds:.1f} s') for judged in slowest)}"


def on_fresh_seeds(suite: Iterable[Judged], seeds: int) -> tuple[list[str], int]:
    """Judge each scenario on the `seeds` seeds that follow its own seed. Return lines of text and the exit code.

    Baselines and goals are left out: a baseline is recorded with one seed, and a goal belongs to the suite. The exit code is
    0 if every check passes on every seed, 1 if not, 2 for an error. Raises `UsageError` for fewer than one seed.
    """
    if seeds < 1:
        raise UsageError("the number of seeds is out of bounds", where="--seeds", given=seeds, allowed="1 or more")
    lines, errors, counts, failed = list[str](), list[str](), [0, 0], False
    for scenario in (judged.scenario for judged in suite):
        checks = tuple(check for check in scenario.checks if not isinstance(check, (BaselineCheck, Goal)))
        path, numbers = one_line(scenario.path or scenario.name), [scenario.seed + index for index in range(1, seeds + 1)]
        runs = [judge(scenario.replace(checks=checks, seed=number)) for number in numbers] if checks else []
        broken = next((run for run in runs if run.error), None)
        if broken is not None:
            errors.append(f"{path}:1: error: seed {broken.scenario.seed}: {broken.error}")
            continue
        for index, check in enumerate(checks):
            outcomes = [run.outcomes[index] for run in runs]
            statuses = [outcome.status for outcome in outcomes]
            passes, failed = statuses.count("pass"), failed or "error" in statuses
            counts[passes < seeds] += 1
            if passes < seeds:
                verdict = f"depends on its seed: {check.name}: passes on {passes} of {seeds} seeds"
                lines.append(f"{path}:{check.line}: {verdict}")
                lines += [
                    f"  seed {number}: {outcome.status}: {one_line(outcome.message.partition(chr(10))[0])}"
                    for number, outcome in zip(numbers, outcomes, strict=True)
                    if outcome.status != "pass"
                ]
    lines.append(f"{counts[0]} checks hold on every fresh seed, {counts[1]} do not")
    return [*errors, *lines], 2 if errors or failed else int(counts[1] > 0)
