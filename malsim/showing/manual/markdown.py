"""Tables in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.base.parameters import Param


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    r"""Return a Markdown table; a stroke within a cell is escaped.

    >>> print(table(("a", "b"), [(1, "x|y")]))
    | a | b |
    |---|---|
    | 1 | x\|y |
    """
    names = list(header)
    lines = [_line(names), "|" + "---|" * len(names), *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def parameters(params: Mapping[str, Param]) -> str:
    """Return a table of declared parameters: name, default, unit, bounds, meaning."""
    rows = [
        (
            f"`{name}`",
            f"{p.default:g}" if isinstance(p.default, float | int) else repr(p.default),
            p.unit,
            p.bounds,
            p.meaning,
        )
        for name, p in params.items()
    ]
    return table(("name", "default", "unit", "bounds", "meaning"), rows)
