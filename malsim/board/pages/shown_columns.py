"""Which columns tell memories apart: those in which all have the same number stand last, and in no picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def number_of(data: Mapping[str, Any], cell: Mapping[str, Any]) -> float | None:
    """A cell's number, also of what is timed; None where it has none."""
    timed = data["times"].get(cell["metric"], {})
    value: float | None = timed.get(cell["row"], cell["value"])
    return value


def columns_of(data: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], dict[str, float]]:
    """The metrics in which memories differ, and of the others the one number that all have; every metric if none differs."""
    values: dict[str, list[float]] = {one["name"]: [] for one in data["metrics"]}
    for cell in data["cells"]:
        if (number := number_of(data, cell)) is not None:
            values[cell["metric"]].append(number)
    same = {name: each[0] for name, each in values.items() if len(each) > 1 and len(set(each)) == 1}
    if len(same) == len(values):
        return list(data["metrics"]), {}
    return [one for one in data["metrics"] if one["name"] not in same], same
