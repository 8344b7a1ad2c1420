"""List the laws; or print the data sheet of a law: equation, parameters, state and source."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from malsim.laws import Law

RANK_ONLY = "a rank only; the number is not a probability"

HEADING = "memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="law whose data sheet to print")
    parser.add_argument("--json", action="store_true", help="print JSON")


def main(args: argparse.Namespace) -> int:
    from malsim.laws import faulty_laws, find_law, shipped_laws

    if args.name:
        law = find_law(args.name)
        _print_json(_sheet(law)) if args.json else _print_sheet(law)
    elif args.json:
        _print_json([_sheet(law) for law in shipped_laws().values()])
    else:
        for name, law in shipped_laws().items():
            print(f"{name:<24} {law.sentence}")
        for fault in faulty_laws().values():
            print(fault)
    return 0


def _print_sheet(law: Law) -> None:
    aliases = f" (also {', '.join(law.aliases)})" if law.aliases else ""
    print(f"{law.name}{aliases}: {law.sentence}\n")
    print("".join(f"    {line}\n" for line in law.equation.splitlines()))
    if law.notes:
        print(f"{law.notes}\n")
    for name, param in law.params.items():
        bounds = "a string" if isinstance(param.default, str) else f"{param.unit}, {param.bounds}"
        print(f"    {name:<16} = {param.default:<8} [{bounds}] {param.meaning}")
    for name, field in law.state.items():
        print(f"    {name:<16} starts {field.start:<8} [{field.unit}] {field.meaning}")
    print(f"output: {'a belief (probability)' if law.belief else RANK_ONLY}")
    for head, text in (("source", law.source), ("left out", law.left_out), ("proven", law.proven)):
        if text:
            print(f"{head}: {text}")


def _sheet(law: Law) -> dict[str, Any]:
    params = {
        name: {"default": param.default, "unit": param.unit, "bounds": param.bounds, "meaning": param.meaning}
        for name, param in law.params.items()
    }
    state = {
        name: {"start": str(field.start), "unit": field.unit, "meaning": field.meaning} for name, field in law.state.items()
    }
    return {
        "name": law.name, "aliases": list(law.aliases), "sentence": law.sentence, "equation": law.equation,
        "notes": law.notes, "params": params, "state": state, "belief": law.belief, "source": law.source,
        "left_out": law.left_out, "proven": law.proven,
    }  # fmt: skip


def _print_json(sheet: object) -> None:
    import json

    print(json.dumps(sheet, indent=1, ensure_ascii=False))
