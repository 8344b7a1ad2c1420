"""The families of the board: their columns, what measures them, what they depend on, and the command that shows one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
from malsim.board import chances, counted
from malsim.board.code_hash import code_hash, hash_of_file, hash_of_text
from malsim.examples import examples
from malsim.lab.studies.laws.claims import file_of
from malsim.sim.record.manifest import versions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.board.board_rows import BoardRow
    from malsim.board.figures import BoardSize, Figure, Metric


@dataclass(frozen=True)
class Family:
    """A family: its metrics, what measures a row, folders whose files it depends on, and a command beside `malsim board`."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[BoardRow, BoardSize], list[Figure]]
    folders: tuple[str, ...] = ()
    command: str = ""

    def key(self, row: BoardRow, size: BoardSize) -> str:
        """A hash of all that the figures of a row depend on: code, the row, the size, data, versions."""
        parts = [self.name, code_hash(self.measure.__module__, *self.folders), row.name, row.identity(), repr(sorted(
            versions().items())), str(size.seed)]  # fmt: skip
        if isinstance(self.measure, chances.Drawing):
            parts += [str(self.measure.replications(size)), *self.measure.conditions(size), *_data(self.name, size)]
        return hash_of_text(*parts)

    def shown_by(self, row: BoardRow, size: BoardSize) -> list[str]:
        """Commands that show the figures again: the family's own, where there is one, and the board's."""
        by_name = row.kind != "preset" or "{keeper}" in self.command
        own = [self.command.format(memory=row.memory, keeper=row.keeper)] if self.command and by_name else []
        rows = f"--memory {row.memory} --rows none" if row.kind == "own" else f"--rows {row.name}"
        return [*own, f"malsim board {rows} --families {self.name} --seed {size.seed} --replications {size.replications}"]


def _data(name: str, size: BoardSize) -> list[str]:
    """The files that a family that draws reads."""
    if name == "claims":
        return [hash_of_file(str(file_of(Path(each), stem))) for each in size.claims for stem in ("claims", "truth")]
    scenarios = {"loop": tuple(chances.POPULATIONS.values()), "poisoning": ("scenarios/poisoning/",)}.get(name, ())
    return [hash_of_file(str(each.path)) for each in examples() if scenarios and each.name.startswith(scenarios)]


FAMILIES = {
    family.name: family
    for family in (
        Family("duties", counted.DUTIES, counted.duties, ("malsim.judging.duties",), "malsim conformance {keeper}"),
        Family("prices", counted.PRICES, counted.prices, (), "malsim price {memory}"),
        Family("axioms", counted.AXIOMS, counted.axioms, ("malsim.judging.axioms",), "malsim axioms {memory}"),
        Family("headline", chances.HEADLINE, chances.headline),
        Family("poisoning", chances.POISONING, chances.poisoning),
        Family("loop", chances.LOOP, chances.loop),
        Family("claims", chances.CLAIMS, chances.claims),
        Family("cost", counted.COST, counted.cost),
    )
}


def find_families(names: Sequence[str]) -> list[Family]:
    """The families of some names, all where none is given; raises `UsageError` with the nearest for an unknown one."""
    for name in names:
        if name not in FAMILIES:
            hint = nearest(name, FAMILIES, f"one of {', '.join(FAMILIES)}")
            raise UsageError("no such family", where="--families", given=name, hint=hint)
    return [FAMILIES[name] for name in names] if names else list(FAMILIES.values())


def metrics_of(families: Sequence[Family]) -> list[Metric]:
    """The columns of some families, in order."""
    return [metric for family in families for metric in family.metrics]


def find_metric(name: str, *, where: str) -> tuple[Family, Metric]:
    """The family and the metric of a name; raises `UsageError` with the nearest."""
    every = {metric.name: (family, metric) for family in FAMILIES.values() for metric in family.metrics}
    if name not in every:
        raise UsageError("unknown metric", where=where, given=name, hint=nearest(name, every, f"one of {', '.join(every)}"))
    return every[name]
