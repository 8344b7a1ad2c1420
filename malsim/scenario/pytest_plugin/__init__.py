"""pytest plugin that collects scenario files as tests, one per check, and provides fixtures for testing a memory.

A `.toml` file is collected if it is a scenario: it is named on the command line, begins with `# malsim`, lies in a folder
listed in the ini option `malsim_paths`, or contains `why` or a check together with other tables of a scenario. Heavy
modules are imported when the first scenario is collected.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from malsim.scenario.pytest_plugin.scenario_tests import PREFIX, ScenarioFile, is_scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from malsim.scenario.pytest_plugin.fixtures import MemoryBench, TestedFile


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the plugin's command-line options and ini options."""
    parser.addini("malsim_paths", "files and folders whose .toml files are all scenarios", type="args", default=[])
    texts = {"rules": ("FILE", "judge scenarios under these rules: a TOML file or a preset"),
             "memory": ("MODULE:FACTORY", "judge scenarios with your own memory; its code is run")}  # fmt: skip
    for name, (metavar, meaning) in texts.items():
        parser.addoption(f"{PREFIX}{name}", metavar=metavar, help=meaning)
        parser.addini(f"malsim_{name}", meaning, default="")
    allow = "run the adapter and the processes that a scenario names"
    parser.addoption(f"{PREFIX}allow-code", action="store_true", help=allow)
    parser.addini("malsim_allow_code", allow, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Make the user's memory importable from pytest's root folder, wherever pytest was started."""
    if str(config.rootpath) not in sys.path and (config.getoption("malsim_memory") or config.getini("malsim_memory")):
        sys.path.insert(0, str(config.rootpath))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """Collect a `.toml` file if it is a scenario."""
    if file_path.suffix == ".toml" and (parent.session.isinitpath(file_path) or is_scenario(file_path, parent.config)):
        return ScenarioFile.from_parent(parent, path=file_path)
    return None


@pytest.fixture
def malsim_file(request: pytest.FixtureRequest) -> Callable[[str], TestedFile]:
    """Open a scenario file in the test's folder. `malsim_file("incident.toml").check()` fails as `malsim test` does."""
    from malsim.scenario.pytest_plugin.fixtures import TestedFile
    from malsim.scenario.pytest_plugin.scenario_tests import PluginSettings

    return lambda name: TestedFile.of(request.path.parent / name, PluginSettings.of(request.config))


@pytest.fixture
def malsim_bench(request: pytest.FixtureRequest) -> Callable[..., MemoryBench]:
    """Create a memory that tests can write to, advance in time and query: `malsim_bench(memory="mine:Votes")`."""
    from malsim.scenario.pytest_plugin.fixtures import MemoryBench
    from malsim.scenario.pytest_plugin.scenario_tests import PluginSettings

    return lambda **settings: MemoryBench.of(PluginSettings.of(request.config), **settings)
