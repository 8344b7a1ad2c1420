"""A row from outside: a bundle that its maker signs by its hash, and the check that runs a drawn tenth of it again."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import UsageError
from malsim.board.board_rows import OWN, BoardRow, find_rows
from malsim.board.chances import Drawing
from malsim.board.families import FAMILIES, Family
from malsim.board.figures import BoardSize, Figure, figure_of_parts
from malsim.sim.record.manifest import versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.board.build_board import MemoryBoard

TENTH, FEWEST = 10, 5
NEAR = 1.5e-6  # numbers are rounded to six digits
OWN_MACHINE = ("cost",)


@dataclass(frozen=True)
class Bundle:
    """The row of one memory: how it is made, the size, versions, data sheet and figures, and the hash over all of it."""

    row: BoardRow
    size: BoardSize
    sheet: dict[str, Any]
    versions: dict[str, str]
    figures: dict[str, tuple[Figure, ...]]
    keys: dict[str, str]

    def content(self) -> dict[str, Any]:
        """As plain data, without its hash."""
        return {
            "bundle": 1, "row": {"name": self.row.name, "kind": self.row.kind, "memory": self.row.memory},
            "size": {"replications": self.size.replications, "seed": self.size.seed,
                     "claims": [Path(each).name for each in self.size.claims]},
            "versions": self.versions, "sheet": self.sheet, "keys": self.keys,
            "figures": {name: [figure.json() for figure in several] for name, several in self.figures.items()},
        }  # fmt: skip

    @property
    def sha256(self) -> str:
        """The hash over all that it says."""
        return hashlib.sha256(json.dumps(self.content(), sort_keys=True).encode()).hexdigest()

    def text(self) -> str:
        """The file."""
        return json.dumps(self.content() | {"sha256": self.sha256}, indent=1) + "\n"


def bundle_of(board: MemoryBoard, row: BoardRow) -> Bundle:
    """The bundle of a row of a board; times are not in it."""
    families = [family for family in board.families if family.name not in OWN_MACHINE]
    figures = {family.name: tuple(board.figures[metric.name][row.name] for metric in family.metrics) for family in families}
    keys = {family.name: board.keys.get(f"{row.name}/{family.name}", "") for family in families}
    return Bundle(row, board.size, row.sheet(), versions(), figures, keys)


def read_bundle(path: Path, *, claims: tuple[str, ...] = ()) -> Bundle:
    """Read a bundle; raises `UsageError` for what is none, and for one whose hash is not that of what it says."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        figures = {name: tuple(Figure.read(each) for each in several) for name, several in data["figures"].items()}
        size = BoardSize(
            int(data["size"]["replications"]), int(data["size"]["seed"]), _folders(data["size"]["claims"], claims)
        )
        row = BoardRow(**{name: str(data["row"][name]) for name in ("name", "kind", "memory")})
        bundle = Bundle(row, size, data["sheet"], data["versions"], figures, data["keys"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise UsageError("cannot be read as a bundle", where=str(path), given=str(problem)[:80],
                         hint="`malsim board add MODULE:FACTORY` writes one") from problem  # fmt: skip
    if data.get("sha256") != bundle.sha256:
        raise UsageError("its hash is not that of what it says", where=str(path), given=data.get("sha256"),
                         allowed=bundle.sha256, hint="ask its maker for the file as it was written")  # fmt: skip
    return bundle


def _folders(names: list[str], here: tuple[str, ...]) -> tuple[str, ...]:
    """The folders of claims that are here, by the names that the bundle gives."""
    own = {Path(each).name: each for each in here}
    return tuple(own.get(name, name) for name in names)


def check_bundle(bundle: Bundle, *, seed: int) -> dict[str, str]:
    """Run what a bundle counts again, and a drawn tenth of what it drew; says what was run and what a forger risks.

    Every figure must be what its own parts come to. Raises `UsageError` with the cell that differs.
    """
    row = _runnable(bundle)
    checks, risks, draw = list[str](), list[str](), np.random.default_rng(seed)
    for name, figures in bundle.figures.items():
        family = FAMILIES.get(name)
        if family is None or [each.metric for each in figures] != [metric.name for metric in family.metrics]:
            raise UsageError(
                "not the columns of a family", where=f"{row.name}: {name}", given=[each.metric for each in figures]
            )
        if isinstance(family.measure, Drawing):
            some = [folder for folder in bundle.size.claims if not Path(folder).is_dir()] if name == "claims" else []
            if some:
                checks.append(f"{name}: not run, as {', '.join(some)} is not here")
                continue
            for words, risk in _drawn_again(row, family.measure, bundle, figures, draw):
                checks.append(words)
                risks.append(risk)
        else:
            _counted_again(row, family, bundle.size, figures)
            checks.append(f"{name}: all of it")
    return {"row": row.name, "checked": "; ".join(checks), "odds": "; ".join(["counted cells: refused for certain", *risks])}


def _runnable(bundle: Bundle) -> BoardRow:
    """The row as it is here: of ours by its name, of others by the code that it names."""
    if bundle.row.kind == OWN:
        return bundle.row
    row = find_rows([bundle.row.name])[0]
    if row.missing:
        raise UsageError("cannot be run here", where=row.name, given=row.missing)
    return row


def _counted_again(row: BoardRow, family: Family, size: BoardSize, figures: tuple[Figure, ...]) -> None:
    for before, now in zip(figures, family.measure(row, size), strict=True):
        if before.json() == now.json():
            continue
        parts = [name for name in {**before.parts, **now.parts} if before.parts.get(name) != now.parts.get(name)]
        what = f": {', '.join(parts)}" if parts else ""
        raise _differs(row, f"{before.metric}{what}", before.text, now.text)


def _drawn_again(row: BoardRow, family: Drawing, bundle: Bundle, figures: tuple[Figure, ...],
                 draw: np.random.Generator) -> Iterator[tuple[str, str]]:  # fmt: skip
    conditions, count = list(family.conditions(bundle.size)), family.replications(bundle.size)
    for metric, figure in zip(family.metrics, figures, strict=True):
        if figure.json() != figure_of_parts(metric, _floats(figure)).json():
            raise _differs(row, metric.name, figure.text, "what its own parts come to")
    every = [(name, rep) for name in conditions for rep in range(count)]
    size = min(len(every), max(math.ceil(len(every) / TENTH), FEWEST))
    for place in sorted(draw.choice(len(every), size=size, replace=False).tolist()):
        condition, rep = every[place]
        for name, values in family.part(row, bundle.size, condition, rep, 1).items():
            figure = next(each for each in figures if each.metric == name)
            before, now = figure.parts.get(condition, [None] * count)[rep], float(values[0])
            if (before is None) != (not np.isfinite(now)) or (before is not None and abs(before - now) > NEAR):
                raise _differs(row, f"{name}, {condition}, replication {rep}", before, now)
    names = ", ".join(metric.name for metric in family.metrics)
    yield f"{names}: {size} of {len(every)} runs", f"{names}: {odds(len(every), size)}"


def _floats(figure: Figure) -> dict[str, list[float]]:
    return {name: [np.nan if value is None else float(value) for value in values] for name, values in figure.parts.items()}


def _differs(row: BoardRow, cell: str, given: object, allowed: object) -> UsageError:
    hint = "if the maker's versions are not yours, run both with the same constraints.txt"
    return UsageError(
        "a rerun gives something else", where=f"{row.name}: {cell}", given=given, allowed=str(allowed), hint=hint
    )


def odds(runs: int, again: int) -> str:
    """How likely a forged cell is refused, by how many of its runs were changed, as a sentence.

    1 − C(runs − changed, again) / C(runs, again).

    >>> odds(128, 13)
    'refused for certain where all 128 runs were changed, 19 times of 20 where 26 were, 10 of 100 where one was'
    """
    enough = next(changed for changed in range(1, runs + 1) if _refused(runs, again, changed) >= 0.95)  # noqa: PLR2004
    one = round(100 * _refused(runs, again, 1))
    return (f"refused for certain where all {runs} runs were changed, 19 times of 20 where {enough} were, "
            f"{one} of 100 where one was")  # fmt: skip


def _refused(runs: int, again: int, changed: int) -> float:
    return 1.0 - math.comb(runs - changed, again) / math.comb(runs, again)
