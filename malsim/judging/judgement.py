"""Result of judging memories: a section each for axioms, duties and prices, as text, JSON, JUnit XML or a page."""

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
    """The sections that were asked, None for the others; `refused` names the memories that have no price, and why."""

    axioms: Matrix | None = None
    duties: Conformance | None = None
    prices: PriceTable | None = None
    refused: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Exit code: 2 if something could not be decided, 1 if an axiom is broken or a duty fails, else 0."""
        tables = [table for table in (self.axioms, self.duties) if table is not None]
        if self.refused or any(table.errors for table in tables):
            return 2
        return int(any(entry.verdict in {BROKEN, FAILS} for table in tables for entry in table.verdicts))

    def rows(self) -> dict[str, Any]:
        """Return, by section, rows of axioms (law, axiom, verdict, witness) and duties; prices by strategy and way."""
        rows: dict[str, Any] = {}
        if self.axioms is not None:
            rows["axioms"] = self.axioms.frame.to_dicts()
        if self.duties is not None:
            rows["duties"] = self.duties.frame.to_dicts()
        if self.prices is not None:
            rows["prices"] = self.prices.counts()
        return rows

    def __repr__(self) -> str:
        """Return the sections, under headings if there are several."""
        texts = {
            "axioms": self.axioms and verdict_text(self.axioms),
            "duties": self.duties and verdict_text(self.duties),
            "price": self.prices and "\n".join([repr(self.prices), *self.refused]),
        }
        parts = {SECTIONS[name]: words for name, words in texts.items() if words}
        return "\n\n".join(words if len(parts) == 1 else f"{title}\n\n{words}" for title, words in parts.items())

    def page(self) -> str:
        """Return an HTML page that opens offline, with every witness."""
        body = ""
        if self.axioms is not None:
            body += verdict_section(self.axioms, SECTIONS["axioms"])
        if self.duties is not None:
            body += verdict_section(self.duties, SECTIONS["duties"])
        if self.prices is not None and self.prices.prices:
            body += price_section(self.prices, SECTIONS["price"])
        return page("malsim judge", STYLE + body)

    def junit(self) -> str:
        """Return JUnit XML of axioms and duties."""
        return junit([table for table in (self.axioms, self.duties) if table is not None])

    def save_figures(self, folder: Path, *, without: Sequence[str] = ()) -> list[Path]:
        """Write `duties.png` and `prices.png`, the second without some memories; return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        files: dict[Path, Any] = {}
        if self.duties is not None:
            files[folder / "duties.png"] = self.duties.figure()
        if self.prices is not None:
            files[folder / "prices.png"] = self.prices.figure(without=without)
        for path, figure in files.items():
            figure.savefig(path)
        return list(files)
