"""Changes of settings, by their dotted names, in the document of a scenario file."""

from __future__ import annotations

from typing import Any

from malsim.sim.world.clock import DAY

DURATIONS = {"run.turn_every", "reviewers.each", "reviewers.late"}


def set_in_document(document: dict[str, Any], name: str, value: Any) -> None:
    """Set a setting in a scenario file's document: `rules.NAME`, `seed`, `law.NAME`, `writers.NAME.PARAMETER`, …."""
    head, _, rest = name.partition(".")
    plain = f"{round(value * DAY)}ms" if name in DURATIONS else value
    if not rest:
        document[head] = plain
    elif head in ("rules", "run", "reader", "reviewers", "law"):
        document.setdefault(head, {})[rest] = plain
    else:
        _of_one(document, head, rest, plain)


def _of_one(document: dict[str, Any], head: str, rest: str, plain: Any) -> None:
    """Set a parameter of one entry: a fact, a population, or the nth fault of a population."""
    kinds = {"facts": "name", "writers": "name", "faults": "population"}
    names = [table.get(kinds[head], table.get("behaviour")) for table in document[head]]
    owner = next(
        name for name in sorted(names, key=len, reverse=True) if rest == name or rest.startswith((f"{name}.", f"{name}-"))
    )
    tail = rest.removeprefix(owner)
    number = int(tail[1 : tail.index(".")]) if tail.startswith("-") else 1
    table = document[head][[index for index, name in enumerate(names) if name == owner][number - 1]]
    *inner, last = tail.partition(".")[2].split(".")
    for key in inner:
        table = table.setdefault(key, {})
    table[last] = plain
