"""Vocabulary of the netlist language, read from `lexicon.toml`: keywords, fields, reducers, limits and example statements.

>>> SCORES["eff"], LIMITS["handle_hex"], BITS["on"]
('effective', 4, True)
"""

from __future__ import annotations

import tomllib
from fractions import Fraction
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from malsim.base.errors import AddressError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORDS = tomllib.loads((resources.files(__package__) / "lexicon.toml").read_text(encoding="utf-8"))

KEYWORDS: Final[tuple[str, ...]] = tuple(_WORDS["keywords"])
REDUCERS: Final[tuple[str, ...]] = tuple(_WORDS["reducers"])
DOMAINS: Final[tuple[str, ...]] = tuple(_WORDS["domains"])
GRIDS: Final[tuple[str, ...]] = tuple(_WORDS["grids"])
SUMS: Final[tuple[str, ...]] = tuple(_WORDS["sums"])
TYPES: Final[tuple[str, ...]] = tuple(_WORDS["types"])
PROGRAMS: Final[tuple[str, ...]] = tuple(_WORDS["programs"])
COMPILED: Final[tuple[str, ...]] = tuple(_WORDS["compiled"])
ACTUATORS: Final[tuple[str, ...]] = tuple(_WORDS["actuators"])
ALARMS: Final[Mapping[str, str]] = MappingProxyType(_WORDS["alarms"])
OPPOSED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(_WORDS["opposed"])
LOOP_WRITES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(_WORDS["loop"]["writes"])
LOOP_READS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(_WORDS["loop"]["reads"])
FUNCTIONS: Final[Mapping[str, int]] = MappingProxyType(_WORDS["functions"])
FIELDS: Final[Mapping[str, str]] = MappingProxyType(_WORDS["fields"])
WORK: Final[Mapping[str, float]] = MappingProxyType(_WORDS["work"])
LIMITS: Final[Mapping[str, int]] = MappingProxyType(_WORDS["limits"])
SCORES: Final[Mapping[str, str]] = MappingProxyType(_WORDS["scores"])
FLAGS: Final[Mapping[str, str]] = MappingProxyType(_WORDS["flags"])
FORMS: Final[Mapping[str, str]] = MappingProxyType(_WORDS["forms"])
LINE: Final[tuple[str, ...]] = tuple(_WORDS["line"]["fields"])
BITS: Final[Mapping[str, bool]] = MappingProxyType(
    {word: name == "true" for name, words in _WORDS["bits"].items() for word in words}
)
TIMES: Final[Mapping[str, Fraction]] = MappingProxyType({unit: Fraction(days) for unit, days in _WORDS["times"].items()})


def column_of(fields: tuple[str, ...], columns: list[str], where: object) -> str:
    """Return the column that the fields of an address refer to. For example, `("scores", "eff")` means `effective`.

    A cell's scores and flags need the prefix `scores-` or `flags-`; other columns have no prefix.
    """
    group, name = (fields[0], fields[1]) if len(fields) > 1 else ("", fields[0] if fields else "")
    named = {**SCORES, **FLAGS}
    of_cells = "cell" in columns or "handle" in columns
    ungrouped = "" if of_cells and name in named.values() else name
    column = {"scores": SCORES, "flags": FLAGS}[group].get(name, "") if group in {"scores", "flags"} else ungrouped
    if column not in columns or len(fields) > 2:  # noqa: PLR2004 - a group and a name
        names = [*(f"scores-{score}" for score in SCORES), *(f"flags-{flag}" for flag in FLAGS)]
        choices = names if "cell" in columns or group else columns
        allowed, hint = f"{' '.join(choices)}, or the name of a column", nearest(name, [*SCORES, *FLAGS, *columns]) or None
        raise AddressError("no such field", given=str(where), allowed=allowed, hint=hint)
    return column
