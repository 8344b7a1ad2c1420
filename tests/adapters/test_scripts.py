"""A witness against the package alone: a script without malsim that prints what the bench saw."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import malsim as ms
from malsim.adapters.scripts import BENCH_ONLY
from malsim.axioms.engine.show import verdict_text
from malsim.axioms.engine.subjects import subject_of

if TYPE_CHECKING:
    from malsim.axioms.engine.axiom import AxiomVerdict

OWN = """
class Latest:
    belief = False

    def __init__(self):
        self.facts = {}

    def write(self, claims, now):
        self.facts |= {claim.object: claim.value for claim in claims}

    def tick(self, now):
        pass

    def peek(self, query, now):
        said = self.facts.get(query.object)
        return [{"id": said, "object": query.object, "value": said, "rank": 1.0}] if said else []

    read = peek
"""


def printed(verdict: AxiomVerdict, folder: Path) -> list[str]:
    script = folder / "witness.py"
    script.write_text(verdict.script, encoding="utf-8")
    assert "malsim" not in verdict.script
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); exec(open({str(script)!r}).read())"
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def test_a_memory_of_ones_own_breaks_in_its_own_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_alone.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    verdict = ms.axioms("mine_alone:Latest", axiom="late-arrival").broken[0]
    [look] = subject_of("mine_alone:Latest").play(verdict.witness)
    assert printed(verdict, tmp_path) == [str([(item["value"], item["rank"]) for item in look.items])]
    assert "late-arrival, in the package alone:" in verdict_text(ms.axioms("mine_alone:Latest", axiom="late-arrival"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("memory", ["langgraph:in_memory", "langgraph:sqlite", "fsrs:scheduler", "mem0:without_model"])
def test_a_package_s_own_calls_print_what_the_bench_saw(memory: str, tmp_path: Path) -> None:
    package = memory.partition(":")[0]
    if not find_spec(package):
        pytest.skip(f"{package} is not installed")
    broken = ms.axioms(f"malsim.adapters.{memory}", axiom="late-arrival").broken
    for verdict in broken:
        looks = subject_of(verdict.law).play(verdict.witness)
        shown = [sorted((item["value"], item["rank"]) for item in look.items) for look in looks]
        assert [sorted(eval(line)) for line in printed(verdict, tmp_path)] == shown  # noqa: S307  # what we printed
    assert broken or memory.startswith("mem0")


def test_a_law_s_witness_is_in_the_bench_only() -> None:
    assert ms.axioms("last_write", axiom="late-arrival").broken[0].script == BENCH_ONLY
