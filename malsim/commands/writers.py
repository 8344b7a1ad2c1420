"""List behaviours of writers, readers and faults; with their equations and parameters."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.base.parameters import Param


HEADING = "run and look"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="only this behaviour of writers")


def main(args: argparse.Namespace) -> int:
    """Print each behaviour's sentence, equation and parameters."""
    from malsim.sim.settings.claim_faults import BAD, NOISE
    from malsim.sim.settings.population import HABITS
    from malsim.sim.settings.reader import PARAMS, POLICIES
    from malsim.sim.writers import behaviour, behaviours

    for one in [behaviour(args.name)] if args.name else behaviours().values():
        print(f"{one.name}: {one.sentence}")
        print("".join(f"    {line}\n" if line else "\n" for line in one.equation.splitlines()), end="")
        _print(one.params)
        if one.habits:
            print(f"    starts from {', '.join(f'{name} = {value}' for name, value in one.habits.items())}")
        print()
    if not args.name:
        print("habits of every population:")
        _print(HABITS)
        print("\nthe reader's behaviours:")
        for name, policy in POLICIES.items():
            print(f"    {name:<16} {policy.says}")
        print("\nthe reader's parameters:")
        _print(PARAMS)
        print("\nnoise on a population's claims:")
        _print(NOISE)
        print("\nbad commands:")
        _print(BAD)
    return 0


def _print(params: Mapping[str, Param]) -> None:
    for name, param in params.items():
        default = f"{param.default:g}" if isinstance(param.default, float) else repr(param.default)
        bounds = "" if isinstance(param.default, str) else f", {param.bounds}"
        print(f"    {name:<18} = {default:<6} [{param.unit}{bounds}] {param.meaning}")
