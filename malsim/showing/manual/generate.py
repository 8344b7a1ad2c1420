"""Reference pages of the manual, generated from declarations in the code."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from malsim.showing.manual.scenario_keys import parameters, scenario, table


def rules() -> str:
    from malsim.memory import Rules

    rows = []
    for rule in fields(Rules):
        meta = rule.metadata
        # skip rules that name a derived value, which the page on signals describes
        if not {"unit", "choices"} & meta.keys() and rule.type != "str":
            continue
        unit = meta.get("unit", "word" if "choices" in meta else "words")
        rows.append((f"`{rule.name}`", rule.default, unit, _bounds(meta), meta["why"], meta["source"]))
    text = (
        "Set one with `--set rules.NAME=VALUE`, many with `--rules FILE` or a `[rules]` table in a "
        "scenario; `--rules recall_v5` selects the rules of the reference implementation. Times are in days, "
        'or text with a unit: `tau_volatile = "36h"`.\n\n'
    )
    return text + table(("rule", "default", "unit", "allowed", "why", "source"), rows) + "\n"


def _bounds(meta: Mapping[str, Any]) -> str:
    if "choices" in meta:
        return ", ".join(meta["choices"])
    if "unit" not in meta:
        return "separated by spaces"
    above = "above " if meta["above"] else ""
    return f"{above}{meta['low']:g} or more" if math.isinf(meta["high"]) else f"{above}{meta['low']:g} to {meta['high']:g}"


def ops() -> str:
    from ops import sheets

    parts = ["`malsim op NAME` prints one data sheet; `malsim op NAME --step` draws its step response.\n"]
    parts += [f"## {name}\n\n```text\n{sheet}\n```\n" for name, sheet in sorted(sheets().items())]
    return "\n".join(parts)


def loop_pins() -> str:
    from malsim.netlist.language.lexicon import LOOP_READS, LOOP_WRITES

    rows = [(f"`{name}`", kind, "reads", meaning) for name, (kind, meaning) in LOOP_WRITES.items()]
    rows += [
        (f"`{name}.NAME`" if name in {"webhook", "escalation"} else f"`{name}`", kind, "writes", meaning)
        for name, (kind, meaning) in LOOP_READS.items()
    ]
    return table(("pin", "type", "a netlist", "meaning"), rows)


def op_pins() -> str:
    from ops import sheets
    from ops.pin.sheet import Sheet

    rows = []
    for name, sheet in sorted(sheets().items()):
        if not isinstance(sheet, Sheet):
            continue
        ins, outs = (_pins_of(sheet, keys) for keys in (sheet.ins, sheet.outs))
        rows.append((f"`{name}`", sheet.summary, f"{ins} → {outs}"))
    return table(("op", "summary", "pins"), rows)


def _pins_of(sheet: Any, keys: Mapping[str, Any]) -> str:
    """Return the pins that use one of `keys`. More than three pins of one key are abbreviated to a range: `in-0…in-31`."""
    families: dict[str, list[str]] = {}
    for pin, slot in sheet.slots.items():
        if slot.key in keys:
            families.setdefault(slot.key, []).append(pin)
    return " ".join(" ".join(pins) if len(pins) <= 3 else f"{pins[0]}…{pins[-1]}" for pins in families.values())  # noqa: PLR2004


def writers() -> str:
    from malsim.sim.writers import behaviours

    parts = ['A population is a behaviour, a size and a schedule: `[[writers]] behaviour = "honest"`.\n']
    parts += [
        f"## {kind.name}\n\n{kind.sentence}\n\n```text\n{kind.equation}\n```\n\n{parameters(kind.params)}\n"
        for kind in behaviours().values()
    ]
    return "\n".join(parts)


def commands() -> str:
    from malsim.parsers import command_parsers

    parts = ["Exit codes: 0 done or yes, 1 the answer is no, 2 bad input.\n"]
    parts += [f"## malsim {name}\n\n```text\n{sub.format_help()}```\n" for name, sub in sorted(command_parsers().items())]
    return "\n".join([*parts, f"## Limits\n\n{limits()}"])


def limits() -> str:
    from malsim.base.limits import Limits

    head = (
        "Every command, and pytest, refuses input beyond these limits before it runs. The variable `MALSIM_LIMITS` raises "
        "limits by name, separated by commas: `MALSIM_LIMITS=ticks=2000000,memory=8000000000 malsim run …`. Calls from "
        "Python are limited only inside `with Limits().hold(): …`.\n\n"
    )
    rows = [
        (f"`{limit.name}`", limit.metadata["says"], f"{limit.default:,}" if limit.default else "half of the machine's")
        for limit in fields(Limits)
    ]
    return head + table(("name", "limit", "default"), rows) + "\n"


def metrics() -> str:
    from malsim.sim.context.event_log import KINDS
    from malsim.sim.record.metrics import METRICS

    head = "`run.metrics()` returns each metric with its interval over replications."
    measured, kinds = table(("metric", "meaning"), METRICS.items()), table(("kind", "cause"), KINDS.items())
    return f"{head}\n\n{measured}\n\n## Events\n\n`run.events` has one row per event.\n\n{kinds}\n"


PUBLIC = ("malsim.memory", "malsim.adapters", "malsim.judging.axioms", "malsim.judging.duties", "ops")


def python() -> str:
    import malsim

    packages = ", ".join(f"`{package}`" for package in PUBLIC)
    parts = [f"The names of `import malsim as ms`, then the public names of {packages}. All other names may change.\n"]
    for name in malsim.__all__:
        item = getattr(malsim, name)
        text = inspect.cleandoc(item.__doc__ or "")
        parts.append(f"## ms.{name}\n\n```text\n{name}{_signature(item)}\n\n{text}\n```\n")
    for package in PUBLIC:
        module = importlib.import_module(package)
        rows = ((f"`{name}`", (inspect.getdoc(getattr(module, name)) or "").partition("\n")[0]) for name in module.__all__)
        parts.append(f"## {package}\n\n{table(('name', 'summary'), rows)}\n")
    return "\n".join(parts)


def _signature(item: Any) -> str:
    try:
        return re.sub(r"(: |-> )(['\"])(.*?)\2(?=[,) ]|$)", r"\1\3", str(inspect.signature(item)))
    except (TypeError, ValueError):  # built-in functions have no signature
        return "(…)"


def gallery() -> str:
    from malsim.examples import USES, examples

    parts = ["Scenarios with the key `use`. `malsim examples` also lists the others.\n"]
    for use, title in USES.items():
        parts.append(f"## {title}\n")
        for example in examples():
            if example.use == use and example.path.suffix == ".toml":
                stem = example.path.stem
                picture = f"![{stem}](../../../scenarios/pictures/{stem}.png)"
                command = f"```console\n{COMMANDS[use]} {example.name}\n```"
                parts.append(f"### {stem.replace('_', ' ').capitalize()}\n\n{example.sentence}\n\n{command}\n\n{picture}\n")
    return "\n".join(parts)


COMMANDS = dict.fromkeys(("tune", "teach"), "malsim run") | {"test": "malsim test", "validate": "malsim tripwire --scenario"}

PARTS = {"loop_pins": loop_pins, "ops": op_pins}  # functions that make the table for each $NAME in a page
GENERATED: dict[str, tuple[str, Callable[[], str]]] = {
    "tutorial/gallery": ("Gallery", gallery),
    "reference/rules": ("Rules of the memory", rules),
    "reference/ops": ("Ops", ops),
    "reference/writers": ("Writers", writers),
    "reference/scenario-files": ("Scenario files", scenario),
    "reference/metrics": ("Metrics and events", metrics),
    "reference/commands": ("Commands", commands),
    "reference/python": ("Python", python),
}
