"""Scenarios under pytest: what is collected, under which options, and what the fixtures give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

HEAD = 'why = "w"\nseed = 3\n[run]\ndays = 3\n'
CLAIM = '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "dec_a3ee"\nobject = "db"\ntitle = "a"\nconfidence = 0.6\n'
STANDS = '[[check]]\nname = "stands"\nproperty = "always (eff(dec_a3ee) >= 0.5)"\n'
FALLS = '[[check]]\nname = "falls"\nproperty = "always (eff(dec_a3ee) >= 0.9)"\n'
SILENT = '''
class Silent:
    """Answers nothing but the last claim, without belief."""

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


def test_scenarios_next_to_tests_are_collected(tmp_path: Path) -> None:
    _write(tmp_path / "story.toml", HEAD + CLAIM + STANDS)
    _write(tmp_path / "deep" / "er" / "other.toml", HEAD.removeprefix('why = "w"\n') + CLAIM + STANDS)
    _write(tmp_path / "foreign.toml", 'why = "because"\n[tool]\nx = 1\n')
    found = _pytest(tmp_path, ".")
    assert "1 error" in found.stdout
    assert "deep/er/other.toml:1: 'why' is missing" in found.stdout
    assert "foreign" not in found.stdout
    (tmp_path / "deep" / "er" / "other.toml").unlink()
    assert "1 passed" in _pytest(tmp_path, ".").stdout
    assert "1 passed" in _pytest(tmp_path.parent, str(tmp_path)).stdout


def test_paths_of_the_ini_file_are_all_scenarios(tmp_path: Path) -> None:
    _write(tmp_path / "mine" / "x.toml", "seed = 3\n")
    _write(tmp_path / "other" / "x.toml", "seed = 3\n")
    _write(tmp_path / "pytest.ini", "[pytest]\nmalsim_paths = mine\n")
    found = _pytest(tmp_path)
    assert "'why' is missing" in found.stdout
    assert "other" not in found.stdout


def test_user_memory_is_taken_from_options_or_ini(tmp_path: Path) -> None:
    _write(tmp_path / "mine.py", SILENT)
    check = '[[check]]\nname = "last"\nproperty = "always (right(db) == 1)"\n'
    second = CLAIM.replace("0d", "1.5d").replace("a3ee", "b4ff").replace('title = "a"', 'title = "b"')
    facts = '[[facts]]\nname = "db"\nvalues = ["b", "a"]\nstart = "first"\n'
    _write(tmp_path / "story.toml", HEAD + facts + CLAIM + second + check.replace("always", "always[2d:]"))
    found = _pytest(tmp_path, "--malsim-memory", "mine:Silent")
    assert "1 passed" in found.stdout, found.stdout
    _write(tmp_path / "story.toml", HEAD + facts + CLAIM + second + check)
    _write(tmp_path / "pytest.ini", "[pytest]\nmalsim_memory = mine:Silent\nmalsim_allow_code = true\n")
    found = _pytest(tmp_path.parent, "-c", str(tmp_path / "pytest.ini"), str(tmp_path))
    assert "1 failed" in found.stdout, found.stdout
    assert "--memory mine:Silent --allow-code" in found.stdout


def test_reports_contain_margin_seed_and_replication(tmp_path: Path) -> None:
    odd = STANDS.replace("stands", "odd \\u001b[31m \\u0012")
    _write(tmp_path / "story.toml", HEAD + CLAIM + odd + FALLS)
    found = _pytest(tmp_path, "-n", "2", "--junitxml", "r.xml", ".")
    assert "1 failed, 1 passed" in found.stdout
    assert "\x1b[31m " not in found.stdout.replace("\x1b[31mF", "")
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
    found = _pytest(tmp_path, "test_them.py")
    assert "4 passed" in found.stdout, found.stdout


@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_byte_order_mark_is_skipped(tmp_path: Path, mark: str) -> None:
    _write(tmp_path / "story.toml", mark + HEAD + CLAIM + STANDS)
    assert "1 passed" in _pytest(tmp_path, ".").stdout
