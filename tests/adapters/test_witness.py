"""A witness against the package alone: a script without malsim that prints what the bench saw."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

import malsim as ms
from malsim.adapters.witness.script import BENCH_ONLY
from malsim.judging.axioms.engine.axiom import find_axiom
from malsim.judging.axioms.engine.matrix import matrix
from malsim.judging.axioms.engine.show import verdict_text
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.duties import assess
from malsim.judging.duties.engine.assessment import FAILS
from malsim.judging.duties.engine.duty import OBLIGATION
from malsim.judging.prices import price

OWN = """
class Latest:
    belief = False

    def __init__(self):
        self.facts = {}

    def write(self, claims, now):
        self.facts |= {(claim.scope, claim.object): claim.value for claim in claims}

    def tick(self, now):
        pass

    def peek(self, query, now):
        said = self.facts.get((query.scope, query.object))
        return [{"id": said, "object": query.object, "value": said, "rank": 1.0}] if said else []

    read = peek

    def correct(self, object, value, instead, now, by, scope):
        pass


class Later(Latest):
    async def write(self, claims, now):
        super().write(claims, now)

    async def peek(self, query, now):
        return super().peek(query, now)

    read = peek
"""
SMALL = f"mcp:{sys.executable} {Path(__file__).with_name('small_mcp_server.py')}"
PACKAGES = {
    "langgraph:in_memory": "langgraph",
    "langgraph:sqlite": "langgraph",
    "fsrs:scheduler": "fsrs",
    "mem0:without_model": "mem0",
    "mem0:pipeline": "mem0",
    "langmem:manager": "langmem",
    "graphiti:edge_resolution": "graphiti_core",
    "graphiti:whole": "kuzu",
}
IN_WORDS = ("mem0:pipeline", "langmem:manager", "graphiti:whole")  # what they show is sentences


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a memory of one's own."""
    (tmp_path / "mine_alone.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def printed(script: str, folder: Path) -> list[str]:
    """What a script prints in an interpreter of its own, which knows no malsim."""
    path = folder / "witness.py"
    path.write_text(script, encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); sys.modules['malsim'] = None; exec(open({str(path)!r}).read())"
    ran = subprocess.run([sys.executable, "-W", "ignore", "-I", "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def shows_each_failure(memory: object, cells: list[str], folder: Path) -> int:
    """Run the witness of every cell that fails: what is not to be there is, what is to come first does not."""
    failed = [one for cell in cells for one in assess(memory, cell=cell, limit=60.0).having(FAILS)]
    for one in failed:
        asked = [line for line in one.witness.splitlines() if "  # " in line and not line.startswith(("class ", "def "))]
        looks = [line.partition("  # ")[2].split(" ")[0] for line in asked]
        for value, line in zip(looks, printed(one.witness, folder), strict=True):
            first = line.partition("}")[0].partition(")")[0]
            assert (one.cell, value in (first if one.kind == OBLIGATION else line)) == (one.cell, one.kind != OBLIGATION)
    return len(failed)


def installed(memory: str) -> str:
    package = PACKAGES[memory]
    if not find_spec(package):
        pytest.skip(f"{package} is not installed")
    return f"malsim.adapters.{memory}"


@pytest.mark.parametrize("memory", ["mine_alone:Latest", "mine_alone:Later"])
def test_a_memory_of_ones_own_breaks_in_its_own_lines(memory: str, alone: Path) -> None:
    verdict = ms.axioms(memory, axiom="late-arrival").broken[0]
    [look] = subject_of(memory).play(verdict.witness)
    [[item]] = [eval(line) for line in printed(verdict.script, alone)]  # noqa: S307  # what we printed
    assert [(item["value"], item["rank"])] == [(one["value"], one["rank"]) for one in look.items]
    assert "late-arrival, in the package alone:" in verdict_text(ms.axioms(memory, axiom="late-arrival"))
    assert shows_each_failure(memory, ["change.D", "mistake.B", "change.C'"], alone) == 3


def test_a_lie_that_is_believed_is_shown_in_the_memory_alone(alone: Path) -> None:
    [one] = price("mine_alone:Latest", strategies=["sybils"]).prices
    assert [item["value"] for item in eval(printed(one.script, alone)[-1])] == ["B"]  # noqa: S307  # what we printed


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("memory", PACKAGES)
def test_a_package_s_own_calls_print_what_the_bench_saw(memory: str, tmp_path: Path) -> None:
    axiom, says = "truth-may-return" if "graphiti" in memory else "late-arrival", "text" if memory in IN_WORDS else "value"
    broken = matrix([subject_of(installed(memory), limit=60.0)], [find_axiom(axiom)]).broken
    for verdict in broken:
        looks = subject_of(verdict.law, limit=60.0).play(verdict.witness)
        shown = [sorted((item[says], item["rank"]) for item in look.items) for look in looks]
        lines = printed(verdict.script, tmp_path)[-len(shown) :]
        assert [sorted(eval(line)) for line in lines] == shown  # noqa: S307  # what we printed
    assert broken or "mem0" in memory


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("memory", PACKAGES)
def test_a_package_s_failed_duties_are_shown_in_the_package_alone(memory: str, tmp_path: Path) -> None:
    assert shows_each_failure(installed(memory), ["change.C'", "F3", "F6"], tmp_path) or "edge_resolution" in memory


def test_a_server_s_failed_duty_is_shown_by_its_tools_alone(tmp_path: Path) -> None:
    verdict = ms.axioms(SMALL, axiom="late-arrival").broken[0]
    [look] = subject_of(SMALL).play(verdict.witness)
    assert [eval(line) for line in printed(verdict.script, tmp_path)] == [[one["text"] for one in look.items]]  # noqa: S307
    if not which("mcp-server-memory"):
        pytest.skip("needs the npm package of mcp-server-memory")
    assert shows_each_failure("mcp:mcp-server-memory", ["change.B", "F3"], tmp_path) == 2


def test_what_only_malsim_can_make_is_in_the_bench_only() -> None:
    assert ms.axioms("last_write", axiom="late-arrival").broken[0].script == BENCH_ONLY
    for memory in ("last_write", "append", "malsim.adapters.arw:records"):
        assert assess(memory, cell="change.C'").verdicts[0].witness.startswith(f"# {BENCH_ONLY}\n")
