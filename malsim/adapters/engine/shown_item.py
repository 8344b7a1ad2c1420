"""Parsing of a memory's answer into items with all fields that the bench uses, and its checks."""

from __future__ import annotations

from typing import Any, NamedTuple

from malsim.adapters.calls import plain
from malsim.adapters.contract import STATUSES
from malsim.base.errors import AdapterError
from malsim.base.finite import is_number

NUMBERS = ("rank", "belief", "valid_from", "valid_to")


class ShownItem(NamedTuple):
    """Item of an answer. Its value is None if only its text states the value."""

    id: str
    object: str
    value: str | None
    text: str | None
    rank: float
    belief: float | None = None
    active: bool = True
    status: str = STATUSES[0]
    valid_from: float | None = None
    valid_to: float | None = None


def wrong_answer(problem: str, given: object = None, allowed: str | None = None) -> AdapterError:
    return AdapterError(problem, given=plain(given), allowed=allowed)


def shown_items(items: Any, now: float) -> list[ShownItem]:
    """Return the items of an answer on a day. Raises `AdapterError` for an answer that is not a list of valid items.

    >>> shown_items([{"id": 1, "object": "valve", "value": 3.0, "rank": 1}], 0.0)[0].value
    '3'
    """
    if not isinstance(items, (list, tuple)):
        raise wrong_answer(f"returned a {type(items).__name__} instead of a list of items")
    return [_item(item, now) for item in items]


def _item(item: Any, now: float) -> ShownItem:
    try:
        get = item.get
        id_, object_, rank = item["id"], item["object"], item["rank"]
        value, text = get("value"), get("text")
    except (TypeError, KeyError, AttributeError) as problem:
        missing = [name for name in ("id", "object", "rank") if not hasattr(item, "keys") or name not in item]
        raise wrong_answer(f"returned an item without {', '.join(missing) or 'get'}", item) from problem
    if value is None and text is None:
        raise wrong_answer("returned an item with neither value nor text", item)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = f"{value:g}"
    if (status := get("status", STATUSES[0])) not in STATUSES:
        raise wrong_answer(f"returned an unknown status on day {now:g}", status, ", ".join(STATUSES))
    numbers = {name: _number(name, rank if name == "rank" else get(name), now) for name in NUMBERS}
    start, end = numbers["valid_from"], numbers["valid_to"]
    if start is not None and end is not None and end < start:
        raise wrong_answer(f"returned an item that ends before it begins on day {now:g}", f"{start} to {end}")
    return ShownItem(
        str(id_), str(object_), None if value is None else str(value), None if text is None else str(text),
        rank=numbers.pop("rank") or 0.0, active=bool(get("active", True)), status=str(status), **numbers,
    )  # fmt: skip


def _number(name: str, number: Any, now: float) -> float | None:
    if number is None and name != "rank":
        return None
    if name == "belief" and isinstance(number, (int, float)) and not 0.0 <= number <= 1.0:
        raise wrong_answer(f"returned a belief outside its bounds on day {now:g}", number, "0 to 1")
    if not is_number(number):
        raise wrong_answer(f"returned a {name} that is not a number on day {now:g}", number)
    return float(number)
