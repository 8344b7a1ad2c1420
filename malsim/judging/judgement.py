"""Result of judging memories: sections for axioms, duties and prices, as text, JSON, JUnit XML or an HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from malsim.judging.report import STYLE, junit, price_section, verdict_section, verdict_text
from malsim.judging.verdict_table import BROKEN, FAILS
from malsim.showing.pages.page_parts import page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from malsim.judging.axioms.engine.matrix import Matrix
    from malsim.judging.duties.engine.assessment import Conformance
    from malsim.judging.prices.prices import PriceTable

SECTIONS = {
    "axioms": "Axioms: what any sound memory keeps",
    "duties": "Duties: what a memory owes",
    "price": "Prices: what a lie costs, what the truth costs",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Judgement:
    """Results by section; a section that was not requested is None.

    `refused` explains, for each memory without a price, why it has none.
    """

    axioms: Matrix | None = None
    duties: Conformance | None = None
    prices: PriceTable | None = None
    refused: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Exit code: 2 if a verdict is missing, 1 if an axiom is broken or a duty fails, otherwise 0."""
        tables = [table for table in (self.axioms, self.duties) if table is not None]
        if self.refused or any(table.errors for table in tables):
            return 2
        return int(any(entry.verdict in {BROKEN, FAILS} for table in tables for entry in table.verdicts))

    def rows(self) -> dict[str, Any]:
        """Return each section as JSON values: verdicts as a list of rows, and prices as `PriceTable.counts` returns them."""
        tables = {"axioms": self.axioms, "duties": self.duties}
        rows: dict[str, Any] = {name: table.frame.to_dicts() for name, table in tables.items() if table is not None}
        if self.prices is not None:
            rows["prices"] = self.prices.counts()
        return rows

    def __repr__(self) -> str:
        texts = {
            "axioms": self.axioms and verdict_text(self.axioms),
            "duties": self.duties and verdict_text(self.duties),
            "price": self.prices and "\n".join([repr(self.prices), *self.refused]),
        }
        parts = {SECTIONS[name]: words for name, words in texts.items() if words}
        return "\n\n".join(words if len(parts) == 1 else f"{title}\n\n{words}" for title, words in parts.items())

    def page(self) -> str:
        """Return an HTML page that opens offline and contains every witness."""
        tables = {"axioms": self.axioms, "duties": self.duties}
        body = "".join(verdict_section(table, SECTIONS[name]) for name, table in tables.items() if table is not None)
        if self.prices is not None and self.prices.prices:
            body += price_section(self.prices, SECTIONS["price"])
        return page("malsim judge", STYLE + body)

    def junit(self) -> str:
        """Return the verdicts on axioms and duties as JUnit XML."""
        return junit([table for table in (self.axioms, self.duties) if table is not None])

    def save_figures(self, folder: Path, *, without: Sequence[str] = ()) -> list[Path]:
        """Write `duties.png` and `prices.png` and return their paths.

        Memories in `without` are left out of the price figure.
        """
        folder.mkdir(parents=True, exist_ok=True)
        files: dict[Path, Any] = {}
        if self.duties is not None:
            files[folder / "duties.png"] = self.duties.figure()
        if self.prices is not None:
            files[folder / "prices.png"] = self.prices.figure(without=without)
        for path, figure in files.items():
            figure.savefig(path)
        return list(files)
