"""What a part asks of the page that it stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.lab.workbench.changes import Result, Tuning
    from malsim.lab.workbench.trace_lines import TraceLine


class PageHost(Protocol):
    """A page: its state, the functions it calls when that changes, and what it does when it is asked."""

    key: str
    tuning: Tuning
    result: Result | None
    day: float | None
    on_result: list[Callable[[], None]]
    on_day: list[Callable[[], None]]
    on_tap: list[Callable[[float], bool]]

    def change(self, tuning: Tuning) -> None:
        """Take another tuning and run it."""

    def go(self, day: float) -> None:
        """Put the mark on a day."""

    def visible(self, result: Result) -> dict[str, list[TraceLine]]:
        """Return the traces that are drawn, by panel."""

    def title(self) -> str:
        """Return the title of a figure of the result."""
