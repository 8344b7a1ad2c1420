"""Change of a setting in the document of a scenario file, by its dotted name."""

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
    else:  # an entry of a list: a fact, a population, or the nth fault of a population
        key = "population" if head == "faults" else "name"
        names = [table.get(key, table.get("behaviour")) for table in document[head]]
        longest_first = sorted(names, key=len, reverse=True)
        owner = next(name for name in longest_first if rest == name or rest.startswith((f"{name}.", f"{name}-")))
        tail = rest.removeprefix(owner)
        number = int(tail[1 : tail.index(".")]) if tail.startswith("-") else 1
        table = document[head][[index for index, name in enumerate(names) if name == owner][number - 1]]
        *inner, last = tail.partition(".")[2].split(".")
        for part in inner:
            table = table.setdefault(part, {})
        table[last] = plain
