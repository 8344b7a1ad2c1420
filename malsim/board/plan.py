"""A plan made before anybody has seen the runs: what is compared, what is expected, which difference matters.

The seed is drawn from the plan's hash, so nobody has seen its runs when the plan is pinned. Whoever pins many plans and
shows one has seen many seeds: that no file can prevent.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import UsageError, nearest
from malsim.base.files.outputs import save_text
from malsim.base.files.toml_lines import line_of, lines_of
from malsim.base.files.toml_text import toml_table
from malsim.board.board_rows import BoardRow, find_rows, own_row
from malsim.board.code_hash import hash_of_text
from malsim.board.families import Family, find_metric
from malsim.board.figures import BoardSize, replication_means
from malsim.board.places import ranking_of
from malsim.lab.studies.paired_ranking import replications_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.board.build_board import MemoryBoard
    from malsim.board.figures import Figure, Metric
    from malsim.lab.studies.paired_ranking import Ranking

KEYS = ("why", "rows", "memories", "replications", "claims", "expect")
HELD, NOT_HELD, UNDECIDED = "held", "not held", "undecided"
SEEDS = 2**20


@dataclass(frozen=True)
class Expectation:
    """An order expected of a metric, the best first, and the least difference of neighbours that matters."""

    metric: str
    order: tuple[str, ...]
    least: float = 0.0


@dataclass(frozen=True)
class Plan:
    """Rows, families of the metrics, replications, and what is expected; `text` is the file as it stands."""

    path: Path
    text: str
    rows: tuple[BoardRow, ...]
    families: tuple[Family, ...]
    replications: int
    claims: tuple[str, ...]
    expectations: tuple[Expectation, ...]

    def pins(self) -> dict[str, str]:
        """A hash of each thing that must not change: the plan's text, and what each row in each family depends on."""
        size = BoardSize(self.replications, 0, self.claims)
        pins = {f"{row.name} in {family.name}": family.key(row, size) for row in self.rows for family in self.families}
        return {"plan": hash_of_text(self.text), **pins}

    def size(self) -> BoardSize:
        """The size of its board, with the seed that its hash gives."""
        return BoardSize(self.replications, seed_of(pin_of(self)), self.claims)


def read_plan(path: Path) -> Plan:
    """Read a plan; raises `UsageError` with the line, what was given and the nearest name that there is."""
    try:
        text = path.read_text(encoding="utf-8")
        table = toml_table(text)
    except (OSError, ValueError, RecursionError) as problem:
        raise UsageError("cannot be read as a plan", where=str(path), given=str(problem)[:80]) from problem
    lines = lines_of(text)

    def where(*key: str | int) -> str:
        return f"{path}:{line_of(lines, key)}: {'.'.join(str(part) for part in key if isinstance(part, str))}"

    for key in table:
        if key not in KEYS:
            raise UsageError(
                "unknown key", where=where(key), given=key, hint=nearest(key, KEYS, f"one of {', '.join(KEYS)}")
            )
    names, own = ([str(each) for each in table.get(key, [])] for key in ("rows", "memories"))
    rows = [*_rows(names, where("rows")), *(own_row(each) for each in own)]
    kinds, expectations = dict[str, Family](), []
    for place, one in enumerate(table.get("expect", [])):
        family, metric = find_metric(str(one.get("metric", "")), where=where("expect", place, "metric"))
        kinds[family.name] = family
        expectations.append(_expectation(one, metric, [row.name for row in rows], where("expect", place, "order")))
    if not expectations:
        raise UsageError("nothing is expected", where=str(path), hint='add [[expect]] with metric and order = ["best", …]')
    replications = table.get("replications", BoardSize().replications)
    if not isinstance(replications, int) or replications < 2:  # noqa: PLR2004  # one has no spread
        raise UsageError("too few", where=where("replications"), given=replications, allowed="2 or more")
    return Plan(path, text, tuple(rows), tuple(kinds.values()), replications,
                tuple(str(each) for each in table.get("claims", [])), tuple(expectations))  # fmt: skip


def _rows(names: list[str], where: str) -> list[BoardRow]:
    try:
        return find_rows(names) if names else []
    except UsageError as problem:
        raise UsageError("no such row", where=where, given=problem.given, hint=problem.hint) from problem


def _expectation(one: Mapping[str, Any], metric: Metric, rows: list[str], where: str) -> Expectation:
    order = [str(each) for each in one.get("order", [])]
    if len(order) < 2:  # noqa: PLR2004  # one and another
        raise UsageError("an order names two rows or more", where=where, given=order)
    for name in order:
        if name not in rows:
            raise UsageError(
                "not among the plan's rows", where=where, given=name, hint=nearest(name, rows, "add it to rows")
            )
    return Expectation(metric.name, tuple(order), float(one.get("least", 0.0)))


def pin_of(plan: Plan) -> str:
    """The hash of all that the plan pins."""
    return hash_of_text(json.dumps(plan.pins(), sort_keys=True))


def seed_of(pinned: str) -> int:
    """The seed that a hash gives.

    >>> seed_of("00" * 9 + "2a")
    42
    """
    return 1 + (int(pinned, 16) - 1) % SEEDS


def _file_of(plan: Plan) -> Path:
    return plan.path.with_suffix(".pin.json")


def pin(plan: Plan) -> Path:
    """Write what the plan pins beside it; raises `UsageError` where another pin stands there."""
    path, data = _file_of(plan), {"plan": plan.path.name, "hash": pin_of(plan), "pins": plan.pins()}
    text = json.dumps(data, indent=1) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") != text:
        hint = "a plan is pinned once; give a new plan another name"
        raise UsageError("another pin stands there", where=str(path), hint=hint)
    save_text(path, text)
    return path


def check_pin(plan: Plan) -> None:
    """Refuse a plan that is not pinned, or of which something has changed since; raises `UsageError` that names it."""
    path = _file_of(plan)
    if not path.is_file():
        raise UsageError("not pinned", where=str(plan.path), hint=f"malsim preregister {plan.path}")
    before, now = json.loads(path.read_text(encoding="utf-8"))["pins"], plan.pins()
    changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if changed:
        hint = "run it with the code and the files that were pinned, or pin a new plan under another name"
        raise UsageError("changed since it was pinned", where=str(plan.path), given=", ".join(changed), hint=hint)


def verdicts(plan: Plan, board: MemoryBoard) -> Iterator[dict[str, str]]:
    """For each pair of neighbours of an order: held, not held or undecided, and why."""
    for one in plan.expectations:
        metric = find_metric(one.metric, where="plan")[1]
        figures = {name: board.figures[one.metric][name] for name in one.order}
        ranking = ranking_of(metric, figures) if metric.ranked else None
        for better, worse in zip(one.order, one.order[1:], strict=False):
            words, why = (
                _by_count(metric, figures, better, worse, one.least)
                if not metric.ranked
                else _by_runs(metric, ranking, figures, (better, worse), one.least)
            )
            least = f" by {one.least:g}" if one.least else ""
            yield {"expected": f"{one.metric}: {better} before {worse}{least}", "verdict": words, "why": why}


def _by_count(metric: Metric, figures: Mapping[str, Figure], better: str, worse: str, least: float) -> tuple[str, str]:
    a, b = figures[better].value, figures[worse].value
    if a is None or b is None:
        return UNDECIDED, f"{figures[better].text} and {figures[worse].text}"
    ahead = a - b if metric.better == "higher" else b - a
    return (
        HELD if ahead > 0.0 and ahead >= least else NOT_HELD
    ), f"{figures[better].text} and {figures[worse].text}, counted"


def _by_runs(metric: Metric, ranking: Ranking | None, figures: Mapping[str, Figure], pair: tuple[str, str],
           least: float) -> tuple[str, str]:  # fmt: skip
    """Held: the order is shown, and a difference that matters is not ruled out. Not held: such a difference is."""
    if ranking is None or not set(pair) <= set(ranking.names):
        return UNDECIDED, "no number in some replication"
    middle, low, high = ranking.difference(*pair)
    if metric.better == "lower":
        middle, low, high = -middle, -high, -low
    if not np.isfinite(low):
        return UNDECIDED, f"{middle:.3g} in each of too few replications"
    why = f"{middle:.3g} [{low:.3g}, {high:.3g}] of {ranking.n} replications"
    if low > 0.0 and high >= least:
        return HELD, why
    if high < least or high <= 0.0:
        return NOT_HELD, why
    each = replication_means(figures[pair[0]].parts) - replication_means(figures[pair[1]].parts)
    count = len(ranking.names)
    if least:
        needed = replications_for(least, float(each.std(ddof=1)), pairs=count * (count - 1) // 2)
        why += f"; {needed} would show {least:g} four times of five"
    return UNDECIDED, why
