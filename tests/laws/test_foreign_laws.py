"""Third-party laws: a broken law raises an error that names it, and other laws still work."""

from __future__ import annotations

import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from malsim import api
from malsim.adapters.calls import Calls
from malsim.adapters.foreign_code import MARK
from malsim.base.errors import LawError
from malsim.cli import main
from malsim.laws import faulty_laws, find_law, plant_of, registry_reset, shipped_laws
from malsim.memory.port import HoldsGraph, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

LAW = '''"""Keep the last claimed value.

    belief = 1

Source: none.
"""

import numpy as np


def {function}(items, now):
    {body}
'''
SCENARIO = (
    'why = "x"\n[run]\ndays = 2\n[[claim]]\nat = "0d"\nwriter = "ann"\nobject = "pump"\nvalue = 1\ntitle = "t"\n'
    'confidence = 0.5\n[[check]]\nname = "stands"\nproperty = "always (eff(obs_a1a1) >= 0)"\n'
)
SCENARIOS = Path(__file__).parents[2] / "scenarios"
TICKS = {
    "raises": "raise KeyError('no' * 10**6)",
    "exits": "import sys; sys.exit(0)",
    "hangs": "import threading; threading.Event().wait()",
    "answers": "return 'high'",
    "shapes": "return np.ones((7, 7))",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(MARK, str(tmp_path))  # pretends that the test runs in the sandbox
    registry_reset()
    yield tmp_path
    registry_reset()


def install(site: Path, module: str, text: str, name: str) -> None:
    sys.modules.pop(module, None)
    (site / f"{module}.py").write_text(text, encoding="utf-8")
    about = site / f"{module}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[malsim.laws]\n{name} = {module}\n", encoding="utf-8")


@pytest.mark.parametrize("text", ["raise OSError('no')", "import sys; sys.exit(0)", "x = 1", "def broken("])
def test_broken_law_is_named_and_other_laws_still_work(text: str, site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, "their_broken_law", text, "theirs")
    assert find_law("mal").name == "mal"
    assert "theirs" not in shipped_laws()
    with pytest.raises(LawError, match="theirs"):
        find_law("theirs")
    assert main(["laws"]) == 0
    assert "theirs (their_broken_law): cannot be loaded" in capsys.readouterr().out
    assert main(["laws", "theirs"]) == 2


def test_third_party_law_cannot_use_a_shipped_name(site: Path) -> None:
    install(site, "their_mal", LAW.format(function="belief", body="return np.ones(items.alive.shape)"), "mal")
    assert find_law("mal").path.endswith("malsim/laws/mal.py")
    assert "already used by a law of malsim" in str(faulty_laws()["mal"])


@pytest.mark.parametrize("fault", TICKS)
def test_failing_law_causes_a_typed_error_in_every_command(
    fault: str, site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Calls.__init__, "__defaults__", (0.3,))
    install(site, "their_law", LAW.format(function="belief", body=TICKS[fault]), "theirs")
    monkeypatch.chdir(site)
    (site / "x.toml").write_text(SCENARIO, encoding="utf-8")
    (site / "claims.csv").write_text("writer,object,value\nann,a,1\nbob,a,2\n", encoding="utf-8")
    for command in (["run", "x.toml", "--law", "theirs"], ["compare", "claims.csv", "--laws", "theirs"]):
        assert main(command) == 2
        errors = capsys.readouterr().err
        assert "their_law.py" in errors
        assert len(errors) < 3_000
        assert "this is a bug" not in errors
        registry_reset()


WHOLE = '''"""Forget every claim.

    belief = none

Source: none.
"""

import numpy as np

from malsim.memory.port import Verdicts, View

EMPTY = np.zeros(0, dtype=np.int64)


class TheirView(View):
    def column(self, name, rows=None):
        {column}
        return super().column(name, rows)


class TheirPlant:
    def init(self, replications, vocabulary):
        {init}
        return ()

    def admit(self, state, claims):
        {admit}
        refused, nowhere = np.ones(len(claims), dtype=np.int64), np.full(len(claims), -1)
        return state, Verdicts(verdict=refused, row=nowhere, account=self.account)

    def account(self):
        {account}
        import polars as pl

        return pl.DataFrame()

    def tick(self, state, now):
        {tick}
        return state

    def read(self, state, rep, object_, opened, now):
        return state

    def view(self, state, now):
        {view}
        columns = dict.fromkeys(("rep", "writer", "object", "value"), EMPTY)
        numbers = dict.fromkeys(("stated", "time", "rank"), EMPTY.astype(float))
        import polars as pl

        return TheirView(name=pl.Series([], dtype=pl.String), active=EMPTY.astype(bool), **columns, **numbers)


def plant():
    {plant}
    return TheirPlant()
'''
CALLS = ("plant", "init", "admit", "account", "tick", "view", "column")


def whole(**bodies: str) -> str:
    return WHOLE.format(**(dict.fromkeys(CALLS, "pass") | bodies))


def failing(site: Path, capsys: pytest.CaptureFixture[str], text: str) -> str:
    install(site, "their_plant", text, "theirs")
    (site / "x.toml").write_text(SCENARIO, encoding="utf-8")
    assert main(["run", str(site / "x.toml"), "--law", "theirs"]) == 2
    errors = capsys.readouterr().err
    assert "this is a bug" not in errors
    assert "their_plant.py" in errors
    return errors


@pytest.mark.parametrize("fault", ["raises", "exits", "hangs"])
@pytest.mark.parametrize("call", [call for call in CALLS if call != "column"])
def test_failure_in_any_third_party_method_is_reported(
    call: str, fault: str, site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Calls.__init__, "__defaults__", (0.2,))
    message = failing(site, capsys, whole(**{call: TICKS[fault]}))
    assert f"{call} " in message


def test_failure_in_a_third_party_view_is_reported(site: Path) -> None:
    install(site, "their_plant", whole(column="raise KeyError('no')"), "theirs")
    plant = plant_of("theirs")
    view = plant.view(plant.init([0], Vocabulary([], [], [])), 0.0)
    assert len(view) == 0
    assert view.frame().is_empty()
    with pytest.raises(LawError, match=r"view\.column raised KeyError"):
        view.column("currency")


@pytest.mark.parametrize(
    ("call", "body", "message"),
    [
        ("admit", "return state", "must return a state and Verdicts"),
        ("admit", "return state, Verdicts(verdict=EMPTY, row=EMPTY)", "must return one verdict per claim"),
        ("view", "return 7", "must return a View"),
        ("view", "return View(*[EMPTY] * 9)", "raised TypeError"),
    ],
)
def test_third_party_memory_results_are_checked(
    call: str, body: str, message: str, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in failing(site, capsys, whole(**{call: body}))


def test_answer_after_a_timeout_is_discarded() -> None:
    calls, gate = Calls(0.05), threading.Event()
    with pytest.raises(TimeoutError):
        calls.make(lambda: gate.wait() and "late")
    gate.set()
    assert [calls.make(partial(abs, number)) for number in range(3)] == [0, 1, 2]


GRAPH = """Keep a graph of claims.

    belief = effective

Source: none.
"""


def test_subclass_of_the_graph_behaves_like_the_graph(site: Path) -> None:
    code = f'"""{GRAPH}"""\n\nfrom malsim.laws.engine.graph_plant import Graph\nfrom malsim.memory.rules import Rules\n\n'
    code += "believes = True\n\n\nclass Theirs(Graph):\n    pass\n\n\ndef plant():\n    return Theirs(rules=Rules())\n"
    install(site, "their_graph", code, "theirs")
    scenario = api.read(SCENARIOS / "mutual_dispute.toml").replace(replications=1)
    ours, theirs = api.run(scenario), api.run(scenario.replace(law="theirs"))
    assert isinstance(theirs.plant, HoldsGraph)
    assert ours.cells.equals(theirs.cells)
    cell = ours.cells["cell"][0]
    assert str(theirs.explain(cell)) == str(ours.explain(cell))


ITEMS = """Run the law records in a memory of another class.

    belief = as records

Source: none.
"""
OURS = """
from malsim.laws import plant_of

believes = True


def plant():
    made = plant_of("{law}")
    {instead}
    return made
"""


def items(site: Path, law: str = "records", instead: str = "pass") -> None:
    install(site, "their_items", f'"""{ITEMS}"""\n{OURS.format(law=law, instead=instead)}', "theirs")
    registry_reset()


def test_third_party_wrapper_of_a_shipped_law_gives_explanations(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items(site)
    scenario = api.read(SCENARIOS / "half_colluders.toml").replace(replications=1, days=2.0)
    ours, theirs = api.run(scenario.replace(law="records")), api.run(scenario.replace(law="theirs"))
    cell = ours.cells["cell"][0]
    assert str(theirs.explain(cell)) == str(ours.explain(cell))
    assert theirs.why(cell) == ours.why(cell)
    (site / "claims.csv").write_text("writer,object,value\nann,a,1\nbob,a,2\n", encoding="utf-8")
    messages = []
    for law in ("records", "theirs"):
        assert main(["why", str(site / "claims.csv"), "a=1", "--law", law]) == 0
        messages.append(capsys.readouterr().out)
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    ("law", "instead", "message"),
    [
        ("majority", "pass", "does not explain its beliefs"),
        ("records", "made.explain = lambda *given: 'because'", "must return a LawExplanation"),
        ("records", "made.explain = lambda *given: [][0]", "explain raised IndexError"),
        ("records", "made.explain = None", "explain raised TypeError"),
    ],
)
def test_third_party_explanations_are_checked(
    law: str, instead: str, message: str, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items(site, law, instead)
    (site / "claims.csv").write_text("writer,object,value\nann,a,1\nbob,a,2\n", encoding="utf-8")
    assert main(["why", str(site / "claims.csv"), "a=1", "--law", "theirs"]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert "their_items.py" in errors
    assert "this is a bug" not in errors
