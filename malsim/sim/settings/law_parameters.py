"""The laws a scenario may name, and their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.base.errors import ScenarioError
from malsim.base.parameters import checked
from malsim.laws import find_law

if TYPE_CHECKING:
    from collections.abc import Mapping

GRAPHS = ("mal", "recall_v5")  # the laws of the graph of claims


def checked_law(law: str, settings: Mapping[str, object], *, where: str) -> tuple[str, dict[str, float | str]]:
    """Return a law's name and all its parameters. Raises for an unknown law or parameter, or a value out of bounds."""
    if law in GRAPHS:
        if settings:
            raise ScenarioError(f"{law} has no parameters", where=where, given=", ".join(settings), hint="set [rules]")
        return law, {}
    definition = find_law(law, where=where)
    return definition.name, checked(settings, definition.params, where=where)
