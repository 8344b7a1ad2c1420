"""pytest items for scenario files: one per check, and one per goal of the session."""

from __future__ import annotations

import io
import re
import shlex
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from malsim.adapters.foreign_code import NeedsSandboxError, command_process
from malsim.base.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from malsim.scenario.judge.judge import Judged, Outcome
    from malsim.sim.settings.scenario import Check, Scenario

PREFIX = "--malsim-"
LARGEST = 1 << 20  # maximum number of characters read from a file that is not named on the command line
COMMENT = re.compile(r"\s*#\s*malsim[ \t]*(?:\n|$)")
WORDS = re.compile(r"^\s*(why\s*=|\[\[(check|goal)\]\]|\[baseline\])", re.MULTILINE)
TABLES = frozenset(("run", "claim", "facts", "writers", "check", "goal", "baseline", "memory", "rules", "reader", "netlist"))
GOALS = pytest.StashKey[dict[str, list["ScenarioFile"]]]()


class Failed(Exception):  # noqa: N818  # a failed check is not an error
    """Failed check, with the message that `malsim test` prints."""


@dataclass(frozen=True)
class PluginSettings:
    """Settings from the command line and the ini file: rules, the user's memory, and permission to run code."""

    rules: str
    memory: str
    allow_code: bool

    @classmethod
    def of(cls, config: pytest.Config) -> PluginSettings:
        rules, memory = (config.getoption(name) or config.getini(name) for name in ("malsim_rules", "malsim_memory"))
        allow_code = config.getoption("malsim_allow_code") or config.getini("malsim_allow_code")
        return cls(str(rules), str(memory), bool(allow_code))

    @property
    def options(self) -> str:
        """Options of `malsim test` that lead to the same verdict."""
        values = (("--rules", self.rules), ("--memory", self.memory))
        options = "".join(f" {flag} {shlex.quote(value)}" for flag, value in values if value)
        return options + " --allow-code" * self.allow_code

    def read(self, path: Path) -> Scenario:
        """Read a scenario file and apply the rules and the memory from the settings."""
        from malsim.adapters.engine.adapter import Adapter
        from malsim.memory import Rules
        from malsim.scenario.file.scenario_file import read

        scenario = read(path, allow_code=self.allow_code)
        scenario = scenario.replace(rules=Rules.read(self.rules)) if self.rules else scenario
        return scenario.replace(adapter=Adapter.of(self.memory)) if self.memory else scenario


def is_scenario(path: Path, config: pytest.Config) -> bool:
    """Return whether a file is a scenario, either by its location under `malsim_paths` or by its contents."""
    folders = [config.rootpath / folder for folder in config.getini("malsim_paths")]
    if any(path.is_relative_to(folder) for folder in folders):
        from malsim.scenario.file.scenario_file import holds_rules_alone

        return not holds_rules_alone(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(LARGEST)
    except (OSError, ValueError):
        return False
    if COMMENT.match(text):
        return True
    if not WORDS.search(text):
        return False
    try:
        tables = tomllib.loads(text).keys()
    except (ValueError, RecursionError):
        return True  # collect the file, so that its error is reported when it is read
    return len(tables & TABLES) + ("why" in tables) > 1


class ScenarioFile(pytest.File):
    """Collector for a scenario file, which is run once, when its first check is needed."""

    _judged: Judged | None = None
    _scenario: Scenario | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one item per check, and one per goal that no earlier file names. Raise an error if there is no check."""
        from malsim.scenario.checks.checks import Goal

        try:
            with command_process():
                checks = self.scenario().checks
        except NeedsSandboxError:
            yield SandboxedItem.from_parent(self, name="every check, in a sandbox")
            return
        except self.CollectError as problem:
            if self.session.isinitpath(self.path) or self._is_toml():
                raise
            yield SkippedItem.from_parent(self, name="file", reason=str(problem))
            return
        if not checks:
            raise self.CollectError(f"{self.path}:1: nothing is checked; write a [[check]]")
        scenario = self.scenario()
        is_empty = scenario.claims.is_empty() and not (scenario.writers or scenario.processes or scenario.initial_memory)
        if is_empty and not self.session.isinitpath(self.path):
            reason = f"its checks are for a store: malsim test --on STORE {self.shown_path()}"
            yield SkippedItem.from_parent(self, name="file", reason=reason)
            return
        for check in checks:
            if not isinstance(check, Goal):
                yield CheckItem.from_parent(self, name=one_line(check.name), check=check)
                continue
            files = self.config.stash.setdefault(GOALS, {}).setdefault(check.name, [])
            files.append(self)
            if len(files) == 1:
                yield GoalItem.from_parent(self, name=one_line(check.name), check=check)

    def _is_toml(self) -> bool:
        try:
            tomllib.loads(self.path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError):
            return False
        return True

    def scenario(self) -> Scenario:
        """Return the scenario, which is read on first use. Raise `CollectError` if it cannot be read."""
        from malsim.base.errors import MalsimError

        if self._scenario is None:
            try:
                self._scenario = PluginSettings.of(self.config).read(self.shown_path())
            except MalsimError as problem:
                raise self.CollectError(str(problem)) from problem
        return self._scenario

    def shown_path(self) -> Path:
        """Return the path, relative to the current folder if it lies within that folder."""
        here = self.config.invocation_params.dir
        return self.path.relative_to(here) if self.path.is_relative_to(here) else self.path

    def judged(self) -> Judged:
        """Return the judged scenario, which is run on first use."""
        from malsim.scenario.judge.judge import judge

        if self._judged is None:
            with command_process():
                self._judged = judge(self.scenario())
        return self._judged


class SkippedItem(pytest.Item):
    """Test item that skips a scenario file and reports the reason."""

    def __init__(self, *, reason: str, **options: Any) -> None:
        super().__init__(**options)
        self.reason = reason

    def runtest(self) -> None:
        pytest.skip(self.reason)


class ScenarioItem(pytest.Item):
    """Test item from a scenario file. Its failures are reported as in `malsim test`."""

    parent: ScenarioFile

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:  # noqa: ARG002  # pytest passes it
        """Return the output of `malsim test`, without a traceback."""
        return str(excinfo.value if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo))


class SandboxedItem(ScenarioItem):
    """Test item for all checks of a scenario that runs foreign code, judged in a sandboxed process."""

    code, text = 0, ""

    def setup(self) -> None:
        from malsim.adapters.engine.sandbox import run_sandboxed
        from malsim.base.errors import AdapterError

        printed, path = io.StringIO(), self.parent.shown_path()
        with redirect_stdout(printed), redirect_stderr(printed):
            try:
                self.code = run_sandboxed(["test", str(path), *shlex.split(PluginSettings.of(self.config).options)])
            except AdapterError as problem:
                self.code = 2
                printed.write(f"{path}:1: error: {problem}")
        self.text = printed.getvalue()
        if self.code not in (0, 1):
            pytest.fail(self.text, pytrace=False)

    def runtest(self) -> None:
        if self.code:
            raise Failed(self.text)


class CheckItem(ScenarioItem):
    """Test item for one check. Errors are raised in setup and failures in the call, so that reports separate them."""

    def __init__(self, *, check: Check, **options: Any) -> None:
        super().__init__(**options)
        self.check = check

    def setup(self) -> None:
        from malsim.scenario.judge.suite_summary import facts_of, headline

        self.result = judged, outcome = self.judge()
        if outcome is None:
            pytest.fail(f"{judged.scenario.path}:1: error: {judged.error}", pytrace=False)
        self.user_properties += facts_of(judged, outcome).items()
        if outcome.status == "error":
            pytest.fail(headline(judged, outcome), pytrace=False)

    def judge(self) -> tuple[Judged, Outcome | None]:
        """Return the judged scenario and the outcome of this check, which is None if the run failed."""
        judged = self.parent.judged()
        return judged, next((outcome for outcome in judged.outcomes if outcome.check.name == self.check.name), None)

    def runtest(self) -> None:
        from malsim.scenario.judge.suite_summary import details, headline

        judged, outcome = self.result
        if outcome is not None and outcome.status == "fail":
            lines = details(judged, outcome, PluginSettings.of(self.config).options)
            raise Failed("\n".join([headline(judged, outcome), *lines]))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.check.line - 1, f"{self.path.stem}: {self.name}"


class GoalItem(CheckItem):
    """Test item for one goal of all collected scenarios, which are run in turn until one meets the goal."""

    def judge(self) -> tuple[Judged, Outcome | None]:
        from malsim.scenario.judge.judge import goals

        suite = []
        for file in self.config.stash[GOALS][self.check.name]:
            suite.append(file.judged())
            result = next(goal for goal in goals(suite) if goal[1].check.name == self.check.name)
            if result[1].status == "pass":
                break
        return result
