"""Options by which a command changes a scenario: `--law NAME`, `--set NAME=VALUE`, `--memory MODULE:FACTORY`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from malsim.adapters.engine.adapter import Adapter
from malsim.base.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from malsim.memory import Rules
    from malsim.sim.settings.scenario import Scenario


def law_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--law", metavar="NAME", help="run under this law of the memory instead; see malsim laws")


def set_arguments(parser: argparse.ArgumentParser) -> None:
    law_arguments(parser)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="change one setting by its name: rules.damping=0.5, law.half_life=3, run.days=12; may be repeated",
    )  # fmt: skip


def memory_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--memory",
        action="append",
        default=[],
        metavar="MODULE:FACTORY",
        help="run a memory of your own, whose code is run; see malsim docs your-own-memory",
    )
    parser.add_argument("--mapping", metavar="FILE", help="which tools of an mcp: server take what (TOML)")
    parser.add_argument("--allow-code", action="store_true", help="run the adapter, the processes that a scenario names")
    parser.add_argument("--call-limit", type=float, metavar="S", help="seconds a call of your own memory may take (10)")


def with_memory(scenario: Scenario, args: argparse.Namespace) -> Scenario:
    """Return the scenario with the user's memory and its limits, as named by the options."""
    given = [*args.memory, *([f"--law {args.law}"] if getattr(args, "law", None) else [])]
    if args.memory and len(given) > 1:
        raise UsageError(
            "several memories",
            where="--memory",
            given=" and ".join(given),
            allowed="one",
            hint="malsim compare takes several",
        )
    adapter = Adapter.of(args.memory[0]) if args.memory else scenario.adapter
    return scenario.replace(adapter=one_of_own(adapter, args)) if adapter else scenario


def one_of_own(given: Adapter, args: argparse.Namespace) -> Adapter:
    """Return the user's memory with the limits of the options."""
    adapter = given if args.call_limit is None else replace(given, limit=args.call_limit)
    if args.mapping and "mcp:" in adapter.name:
        start, _, command = adapter.name.partition("mcp:")
        adapter = replace(adapter, name=f"{start}mcp:{shlex.quote(args.mapping)} {command}")
    return adapter


def under_law(scenario: Scenario, args: argparse.Namespace, *, rules: Rules | None = None, strict: bool = False) -> Scenario:
    """Return the scenario with the options applied, under `rules` if given, without checks that the law cannot answer.

    Each that is left out is named on stderr once; with `strict` it stays, for the judge to refuse.
    """
    given = getattr(args, "set", [])
    laws = law_settings([text for text in given if text.startswith("law.")])
    changes: dict[str, Any] = {"law": args.law} if args.law else {}
    if laws:
        previous = scenario.law_settings if args.law in (None, scenario.law) else {}
        changes["law_settings"] = {**previous, **laws}
    scenario = scenario.replace(**changes) if changes else scenario
    assignments = [text for text in given if "." not in text.partition("=")[0] or text.startswith("rules.")]
    if rules is not None or assignments:
        scenario = scenario.replace(rules=(rules or scenario.rules).set(*assignments))
    if others := [text for text in given if text not in assignments and not text.startswith("law.")]:
        scenario = _with_settings(scenario, others)
    from malsim.sim.settings.scenario import check_size  # heavy, and every command declares these options

    check_size(scenario)
    if strict:
        return scenario
    from malsim.sim.settings.askable import askable

    scenario, left_out = askable(scenario)
    for line in left_out:
        sys.stderr.write(f"{line}\n")
    return scenario


def _with_settings(scenario: Scenario, given: list[str]) -> Scenario:
    """Return the scenario with settings of its run, facts, people and ops changed by their dotted names."""
    from malsim.lab.space.settings import changed  # heavy, and every command declares these options

    values: dict[str, object] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError("not an assignment", where="--set", given=text, allowed="NAME=VALUE")
        values[name.strip()] = number_or_text(value.strip())
    return changed(scenario, values, where="--set")


def law_settings(given: list[str]) -> dict[str, float | str]:
    """Return a law's parameters from texts `law.NAME=VALUE`; raise `UsageError` for any other text."""
    settings = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name.startswith("law.") and equals):
            raise UsageError("not a parameter of the law", where="--set", given=text, allowed="law.NAME=VALUE")
        settings[name.strip().removeprefix("law.")] = number_or_text(value.strip())
    return settings


def number_or_text(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value
