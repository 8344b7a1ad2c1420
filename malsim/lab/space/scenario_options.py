"""Command-line options that change a scenario: `--law NAME`, `--set NAME=VALUE`, `--memory MODULE:FACTORY`."""

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


def set_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--law", metavar="NAME", help="run the memory under this law; see malsim laws")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="change a setting by name: rules.damping=0.5, law.half_life=3, run.days=12; may be repeated",
    )  # fmt: skip


def memory_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--memory", action="append", default=[], metavar="MODULE:FACTORY",
        help="run your own memory (this runs its code); see malsim docs your-own-memory",
    )  # fmt: skip
    parser.add_argument("--mapping", metavar="FILE", help="TOML file that maps the tools of an mcp: server to memory calls")
    parser.add_argument(
        "--allow-code", action="store_true", help="allow the adapter and the processes named in a scenario to run"
    )
    parser.add_argument(
        "--call-limit", type=float, metavar="S", help="time limit in seconds for a call of your own memory (default 10)"
    )


def with_memory(scenario: Scenario, args: argparse.Namespace) -> Scenario:
    """Return the scenario with the user-defined memory and the limits that the options specify."""
    given = [*args.memory, *([f"--law {args.law}"] if getattr(args, "law", None) else [])]
    if args.memory and len(given) > 1:
        hint = "use malsim compare to compare several memories"
        raise UsageError("only one memory can be run", where="--memory", given=" and ".join(given), allowed="one", hint=hint)
    adapter = Adapter.of(args.memory[0]) if args.memory else scenario.adapter
    return scenario.replace(adapter=with_limits(adapter, args)) if adapter else scenario


def with_limits(adapter: Adapter, args: argparse.Namespace) -> Adapter:
    """Return a user-defined memory with the call limit and the tool mapping that the options specify."""
    adapter = adapter if args.call_limit is None else replace(adapter, limit=args.call_limit)
    if args.mapping and "mcp:" in adapter.name:
        start, _, command = adapter.name.partition("mcp:")
        adapter = replace(adapter, name=f"{start}mcp:{shlex.quote(args.mapping)} {command}")
    return adapter


def under_law(scenario: Scenario, args: argparse.Namespace, *, rules: Rules | None = None, strict: bool = False) -> Scenario:
    """Return the scenario under the law and settings that the options specify and, if given, under `rules`.

    Checks that the law cannot answer are dropped and listed on stderr; with `strict` they stay and the judge refuses them.
    """
    from malsim.lab.space.settings import changed  # imported late: every command loads this module
    from malsim.sim.settings.memory_law import askable
    from malsim.sim.settings.scenario import check_size

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
    values: dict[str, object] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if text not in assignments and not text.startswith("law."):
            if not equals:
                raise UsageError("not an assignment", where="--set", given=text, allowed="NAME=VALUE")
            values[name.strip()] = number_or_text(value.strip())
    scenario = changed(scenario, values, where="--set") if values else scenario
    check_size(scenario)
    if strict:
        return scenario
    scenario, left_out = askable(scenario)
    sys.stderr.writelines(f"{line}\n" for line in left_out)
    return scenario


def law_settings(given: list[str]) -> dict[str, float | str]:
    """Parse strings `law.NAME=VALUE` as parameters of a law. Raises `UsageError` for any other text."""
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
