"""Print the JSON Schema of scenario files; for editors and checks."""

from __future__ import annotations

import argparse
import json

HEADING = "judge"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: none."""


def main(_: argparse.Namespace) -> int:
    """Print it."""
    from malsim.scenario.file.json_schema import scenario_schema

    print(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
    return 0
