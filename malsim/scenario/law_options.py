"""The options by which a command puts a scenario under another law: `--law NAME`, `--set law.NAME=VALUE`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from malsim.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from malsim.memory import Rules
    from malsim.sim.settings.scenario import Scenario

__all__ = ["law_arguments", "set_arguments", "under_law"]


def law_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `--law`."""
    parser.add_argument("--law", metavar="NAME", help="run under this law of the memory instead; see malsim laws")


def set_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `--law` and `--set`."""
    law_arguments(parser)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="change one number: rules.NAME=VALUE, or law.NAME=VALUE of the law; may be repeated",
    )  # fmt: skip


def under_law(scenario: Scenario, args: argparse.Namespace, *, rules: Rules | None = None, strict: bool = False) -> Scenario:
    """The scenario as the options have it, under `rules` if given; checks that the law has no number for are left out.

    Each that is left out is named on stderr once; with `strict` it stays, for the judge to refuse.
    """
    given = [text.partition("=") for text in getattr(args, "set", [])]
    laws = {name.strip().removeprefix("law."): value.strip() for name, _, value in given if name.startswith("law.")}
    changes: dict[str, Any] = {"law": args.law} if args.law else {}
    if laws:
        held = scenario.law_settings if args.law in (None, scenario.law) else {}
        changes["law_settings"] = {**held, **{name: _number(name, value) for name, value in laws.items()}}
    scenario = scenario.replace(**changes) if changes else scenario
    assignments = [text for text in getattr(args, "set", []) if not text.startswith("law.")]
    if rules is not None or assignments:
        scenario = scenario.replace(rules=(rules or scenario.rules).set(*assignments))
    if strict:
        return scenario
    from malsim.sim.settings.askable import askable  # heavy, and every command declares these options

    scenario, left_out = askable(scenario)
    for line in left_out:
        sys.stderr.write(f"{line}\n")
    return scenario


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise UsageError("not a number", where="--set", given=f"law.{name}={value}", allowed="law.NAME=NUMBER") from error
