"""Tests for the pytest plugin: collected files, options, reports and fixtures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from malsim.cli import main

HEAD = 'why = "w"\nseed = 3\n[run]\ndays = 3\n'
CLAIM = '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "dec_a3ee"\nobject = "db"\ntitle = "a"\nconfidence = 0.6\n'
STANDS = '[[check]]\nname = "stands"\nproperty = "always (eff(dec_a3ee) >= 0.5)"\n'
FALLS = '[[check]]\nname = "falls"\nproperty = "always (eff(dec_a3ee) >= 0.9)"\n'
ERROR = '[[check]]\nname = "nowhere"\nproperty = "always (eff(obs_ffff) < 0.3)"\n'
SILENT = '''
class Silent:
    """Memory that answers with the last claim, without a belief."""

    def __init__(self):
        self.last = {}

    def write(self, claims, now):
        self.last |= {claim.object: claim.value for claim in claims}

    def tick(self, now):
        pass

    def read(self, query, now, limit):
        return self.peek(query, now, limit)

    def peek(self, query, now, limit):
        value = self.last.get(query.object)
        return [] if value is None else [{"id": query.object, "object": query.object, "value": value, "rank": 1.0}]
'''


def _pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_failures_and_errors_are_counted_separately(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = '[[goal]]\nname = "g"\nsometimes = "eventually at event(tripped)"\n'
    path = _write(tmp_path / "scenarios" / "x.toml", HEAD + CLAIM + STANDS + FALLS + ERROR + goal)
    _write(tmp_path / "scenarios" / "y.toml", HEAD + CLAIM + STANDS + goal)
    _write(tmp_path / "other.toml", "a = 1\n")
    _write(tmp_path / "scenarios" / "candidate.toml", "[rules]\ndamping = 0.5\n")
    result = _pytest(tmp_path, "-q", "-n", "2", "--junitxml", "r.xml")
    assert "2 failed, 2 passed, 1 error" in result.stdout
    assert "scenarios/x.toml:17: fail: falls: replication 0, day 1" in result.stdout
    assert "Traceback" not in result.stdout
    monkeypatch.chdir(tmp_path)
    [alone] = {line for line in result.stdout.splitlines() if line.startswith("alone: ") and "--check falls" in line}
    assert alone == "alone: malsim test scenarios/x.toml --check falls --seed 3 --replication 0"
    assert main(alone.split()[2:]) == 1
    assert "scenarios/x.toml:17: fail: falls: replication 0, day 1" in capsys.readouterr().out
    assert "1 passed" in _pytest(tmp_path, f"{path}::stands").stdout


def test_unreadable_and_empty_scenarios_are_errors(tmp_path: Path) -> None:
    _write(tmp_path / "scenarios" / "x.toml", HEAD + CLAIM)
    _write(tmp_path / "scenarios" / "y.toml", "# malsim\nwhi = 1\n")
    result = _pytest(tmp_path)
    assert "x.toml:1: nothing is checked" in result.stdout
    assert "unknown key 'whi'" in result.stdout
    assert result.returncode == 2


def test_every_file_in_a_listed_folder_must_be_a_scenario(tmp_path: Path) -> None:
    for folder in ("scenarios", "loads"):
        _write(tmp_path / folder / "load.toml", "users = 5\n")
    _write(tmp_path / "test_own.py", "def test_own(): pass\n")
    assert _pytest(tmp_path).returncode == 0
    _write(tmp_path / "pytest.ini", "[pytest]\nmalsim_paths = loads\n")
    result = _pytest(tmp_path)
    assert result.returncode == 2
    assert "loads/load.toml" in result.stdout
    assert "scenarios/load.toml" not in result.stdout


def test_plugin_imports_no_heavy_modules() -> None:
    heavy = "{'numpy', 'polars', 'lark', 'scipy'}"
    code = f"import sys, malsim.scenario.pytest_plugin; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_scenarios_next_to_tests_are_collected(tmp_path: Path) -> None:
    _write(tmp_path / "story.toml", HEAD + CLAIM + STANDS)
    _write(tmp_path / "deep" / "er" / "other.toml", HEAD.removeprefix('why = "w"\n') + CLAIM + STANDS)
    _write(tmp_path / "foreign.toml", 'why = "because"\n[tool]\nx = 1\n')
    result = _pytest(tmp_path, ".")
    assert "1 error" in result.stdout
    assert "deep/er/other.toml:1: 'why' is missing" in result.stdout
    assert "foreign" not in result.stdout
    (tmp_path / "deep" / "er" / "other.toml").unlink()
    assert "1 passed" in _pytest(tmp_path, ".").stdout
    assert "1 passed" in _pytest(tmp_path.parent, str(tmp_path)).stdout


def test_user_memory_is_taken_from_options_or_ini(tmp_path: Path) -> None:
    _write(tmp_path / "mine.py", SILENT)
    check = '[[check]]\nname = "last"\nproperty = "always (right(db) == 1)"\n'
    second = CLAIM.replace("0d", "1.5d").replace("a3ee", "b4ff").replace('title = "a"', 'title = "b"')
    facts = '[[facts]]\nname = "db"\nvalues = ["b", "a"]\nstart = "first"\n'
    _write(tmp_path / "story.toml", HEAD + facts + CLAIM + second + check.replace("always", "always[2d:]"))
    result = _pytest(tmp_path, "--malsim-memory", "mine:Silent")
    assert "1 passed" in result.stdout, result.stdout
    _write(tmp_path / "story.toml", HEAD + facts + CLAIM + second + check)
    _write(tmp_path / "pytest.ini", "[pytest]\nmalsim_memory = mine:Silent\nmalsim_allow_code = true\n")
    result = _pytest(tmp_path.parent, "-c", str(tmp_path / "pytest.ini"), str(tmp_path))
    assert "1 failed" in result.stdout, result.stdout
    assert "--memory mine:Silent --allow-code" in result.stdout


def test_reports_contain_the_margin_seed_and_replication(tmp_path: Path) -> None:
    odd = STANDS.replace("stands", "odd \\u001b[31m \\u0012")
    _write(tmp_path / "story.toml", HEAD + CLAIM + odd + FALLS)
    result = _pytest(tmp_path, "-n", "2", "--junitxml", "r.xml", ".")
    assert "1 failed, 1 passed" in result.stdout
    assert "\x1b[31m " not in result.stdout.replace("\x1b[31mF", "")
    root = ET.parse(tmp_path / "r.xml").getroot()  # noqa: S314  # our own file
    case = next(case for case in root.iter("testcase") if case.get("name") == "falls")
    properties = {item.get("name"): item.get("value") for item in case.iter("property")}
    assert properties == {"margin": "-0.3", "seed": "3", "replication": "0"}
    assert case.get("time")
    assert next(root.iter("testsuite")).get("timestamp")


TESTS = """
import pytest


def test_bench(malsim_bench):
    bench = malsim_bench(law="majority")
    bench.claim("ann", "host", "web1")
    bench.claim("bob", "host", "web2")
    bench.tick()
    assert bench.answer("host") is None
    bench.claim("cyd", "host", "web1")
    bench.tick(2)
    assert bench.answer("host") == "web1"
    assert bench.check("eventually (right(host) == 1)") == 0
    with pytest.raises(AssertionError, match="replication 0, day 1"):
        bench.check("always (right(host) == 1)")


def test_memory(malsim_bench):
    import mine

    bench = malsim_bench(memory=mine.Silent)
    bench.claim("ann", "host", "web1")
    bench.tick()
    assert bench.answer("host") == "web1"
    assert bench.belief("host") is None


def test_rules(malsim_bench):
    bench = malsim_bench(challenge_ceiling=0.1)
    first = bench.claim("ann", "db", "SQLite", confidence=0.9)
    edges = [{"relation": "contradicts", "target": first}]
    bench.claim("bob", "db", "files", confidence=0.9, edges=edges)
    bench.tick(3)
    assert bench.check(f"always (eff({first}) > 0.7)") > 0
    assert bench.belief("db") > 0.7


def test_file(malsim_file):
    assert malsim_file("story.toml").check()["stands"] == pytest.approx(0.1)
"""


def test_fixtures_work_on_memories_and_files(tmp_path: Path) -> None:
    _write(tmp_path / "mine.py", SILENT)
    _write(tmp_path / "story.toml", HEAD + CLAIM + STANDS)
    _write(tmp_path / "test_them.py", TESTS)
    result = _pytest(tmp_path, "test_them.py")
    assert "4 passed" in result.stdout, result.stdout


@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_byte_order_mark_is_ignored(tmp_path: Path, mark: str) -> None:
    _write(tmp_path / "story.toml", mark + HEAD + CLAIM + STANDS)
    assert "1 passed" in _pytest(tmp_path, ".").stdout
