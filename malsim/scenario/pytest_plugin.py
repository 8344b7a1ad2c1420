"""Scenario files as pytest tests: each check is a test, each goal of the session another; no Python is written.

A `.toml` file is collected if it is named on the command line, if it lies under a folder that the ini option
`malsim_scenarios` names, or, where that is not set, if it lies under a folder called `scenarios` and declares itself: its
first line is `# malsim`, or its first key is `why`. Everything heavy is imported when the first such file is met.
"""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

import pytest

from malsim.adapters.foreign_code import NeedsSandboxError, command_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from malsim.scenario.judge.judge import Judged, Outcome
    from malsim.sim.settings.scenario import Scenario

FOLDERS = "malsim_scenarios"
PREFIX = "--malsim-"
HEAD = 4096
COMMENT = re.compile(r"\s*#\s*malsim[ \t]*(?:\n|$)")
DECLARATION = re.compile(COMMENT.pattern + r"|(?:\s*#[^\n]*\n|\s)*why\s*=")
GOALS = pytest.StashKey[dict[str, list["ScenarioFile"]]]()


class Failed(Exception):  # noqa: N818  # a failed check is no error
    """A check that failed, in the words of `malsim test`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a project name the folders its scenarios lie in, and a command line the rules they run under."""
    parser.addini(FOLDERS, "folders whose .toml files are malsim scenarios", type="args", default=[])
    parser.addoption("--malsim-rules", metavar="FILE", help="judge scenarios under these rules: a TOML file or a preset")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """Take the .toml files that are scenarios by their place."""
    if file_path.suffix != ".toml":
        return None
    if parent.session.isinitpath(file_path) or _is_scenario(file_path, parent.config):
        return ScenarioFile.from_parent(parent, path=file_path)
    return None


def _is_scenario(path: Path, config: pytest.Config) -> bool:
    """Whether a file is a scenario by its place and, where no folder was named, by its own words."""
    within = path.relative_to(config.rootpath) if path.is_relative_to(config.rootpath) else path
    folders = config.getini(FOLDERS)
    if not folders:
        return "scenarios" in within.parts[:-1] and _declares_itself(path)
    if not any(folder in within.parts[:-1] or within.is_relative_to(folder) for folder in folders):
        return False
    from malsim.scenario.file.scenario_file import holds_rules_alone

    return not holds_rules_alone(path)


def _declares_itself(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            head = file.read(HEAD)
    except (OSError, ValueError):
        return False
    return DECLARATION.match(head) is not None


class ScenarioFile(pytest.File):
    """A scenario; it is run once, when its first check is."""

    _judged: Judged | None = None
    _scenario: Scenario | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """One item a check, and one a goal that no earlier file named; a file with neither is an error."""
        from malsim.scenario.checks.checks import Goal

        try:
            with command_process():
                checks = self.scenario().checks
        except NeedsSandboxError:
            yield SandboxedItem.from_parent(self, name="every check, in a sandbox")
            return
        if not checks:
            raise self.CollectError(f"{self.path}:1: nothing is checked; write a [[check]]")
        for check in checks:
            if not isinstance(check, Goal):
                yield CheckItem.from_parent(self, name=check.name)
                continue
            files = self.config.stash.setdefault(GOALS, {}).setdefault(check.name, [])
            files.append(self)
            if len(files) == 1:
                yield GoalItem.from_parent(self, name=check.name)

    def scenario(self) -> Scenario:
        """The scenario, under the rules asked for; the file is read once."""
        if self._scenario is None:
            self._scenario = self._read()
        return self._scenario

    def _read(self) -> Scenario:
        from malsim.base.errors import MalsimError
        from malsim.memory import Rules
        from malsim.scenario.file.scenario_file import read

        try:
            scenario, rules = read(self.near()), self.config.getoption("malsim_rules")
            return scenario.replace(rules=Rules.read(rules)) if rules else scenario
        except MalsimError as problem:
            if not self._is_ours():
                pytest.skip(f"no scenario of ours: {problem}", allow_module_level=True)
            raise self.CollectError(str(problem)) from problem

    def _is_ours(self) -> bool:
        """Whether somebody named the file, its folder or where tests lie, or it says so; else it may be anybody's."""
        config = self.config
        folders = [config.rootpath / one for one in config.getini("testpaths")]
        return (
            self.session.isinitpath(self.path)
            or COMMENT.match(self.path.read_text(encoding="utf-8")) is not None
            or bool(config.getini(FOLDERS))
            or any(self.path.is_relative_to(folder) for folder in folders)
        )

    def near(self) -> Path:
        """The path as a person would type it, who is to repeat the run."""
        here = self.config.invocation_params.dir
        return self.path.relative_to(here) if self.path.is_relative_to(here) else self.path

    def judged(self) -> Judged:
        """The scenario, run and judged."""
        from malsim.scenario.judge.judge import judge

        if self._judged is None:
            with command_process():
                self._judged = judge(self.scenario())
        return self._judged


class SandboxedItem(pytest.Item):
    """All checks of a scenario that runs code of another package: `malsim test` judges them, in a process of its own."""

    parent: ScenarioFile
    code, text = 0, ""

    def setup(self) -> None:
        """Run and judge."""
        from malsim.adapters.engine.sandboxed_command import run_sandboxed
        from malsim.base.errors import AdapterError

        printed, path = io.StringIO(), self.parent.near()
        with redirect_stdout(printed), redirect_stderr(printed):
            try:
                self.code = run_sandboxed(["test", str(path), *shlex.split(options_of(self.config))])
            except AdapterError as problem:
                self.code = 2
                printed.write(f"{path}:1: error: {problem}")
        self.text = printed.getvalue()
        if self.code not in (0, 1):
            pytest.fail(self.text, pytrace=False)

    def runtest(self) -> None:
        """Fail as it was judged."""
        if self.code:
            raise Failed(self.text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:  # noqa: ARG002  # pytest passes it
        """What `malsim test` says."""
        return str(excinfo.value)


def options_of(config: pytest.Config) -> str:
    """The options of `malsim test` under which the same is judged."""
    rules = config.getoption("malsim_rules")
    return f" --rules {shlex.quote(rules)}" if rules else ""


class CheckItem(pytest.Item):
    """One check of a scenario: an error shows in its setup, a failure in its call, so that reports keep them apart."""

    parent: ScenarioFile

    def setup(self) -> None:
        """Run and judge."""
        from malsim.scenario.judge.suite_summary import headline

        self.result = judged, outcome = self.judge()
        if outcome is None:
            pytest.fail(f"{judged.scenario.path}:1: error: {judged.error}", pytrace=False)
        if outcome.status == "error":
            pytest.fail(headline(judged, outcome), pytrace=False)

    def judge(self) -> tuple[Judged, Outcome | None]:
        """The outcome of this check, or none where the run broke off."""
        judged = self.parent.judged()
        return judged, next((outcome for outcome in judged.outcomes if outcome.check.name == self.name), None)

    def runtest(self) -> None:
        """Fail as it was judged."""
        from malsim.scenario.judge.suite_summary import details, headline

        judged, outcome = self.result
        if outcome is not None and outcome.status == "fail":
            lines = details(judged, outcome, options_of(self.config))
            raise Failed("\n".join([headline(judged, outcome), *lines]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:  # noqa: ARG002  # pytest passes it
        """What `malsim test` says, without a traceback of the judge."""
        if isinstance(excinfo.value, Failed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the check stands in its file."""
        line = next(check.line for check in self.parent.scenario().checks if check.name == self.name)
        return self.path, line - 1, f"{self.path.stem}: {self.name}"


class GoalItem(CheckItem):
    """One goal of all the scenarios collected: they are run in turn until one meets it."""

    def judge(self) -> tuple[Judged, Outcome | None]:
        """The outcome over every file that names it."""
        from malsim.scenario.judge.judge import goals

        suite = []
        for file in self.config.stash[GOALS][self.name]:
            suite.append(file.judged())
            result = next(each for each in goals(suite) if each[1].check.name == self.name)
            if result[1].status == "pass":
                break
        return result
