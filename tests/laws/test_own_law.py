"""A user's law in a single file can be run, and its faults are reported with file and line."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from malsim.base.errors import LawError
from malsim.laws import find_law
from malsim.laws.engine.definition import Law, load_law
from malsim.laws.engine.play import run_events
from malsim.laws.engine.registry import plant_of

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parents[2] / "malsim" / "showing" / "manual" / "explanation" / "law.md"
EXAMPLE = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
EVENTS = [
    {"t": 0.0, "do": "write", "writer": "u", "object": "x", "value": "A", "stated": 0.7},
    {"t": 1.0, "do": "write", "writer": "v", "object": "x", "value": "B", "stated": 0.7},
    {"t": 2.0, "do": "tick"},
    {"t": 31.0, "do": "peek", "object": "x"},
]


@pytest.fixture
def law(tmp_path: Path) -> Callable[[str], Law]:
    def loaded(code: str) -> Law:
        path = tmp_path / "steady.py"
        path.write_text(code, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("steady", path)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return load_law("steady", module)

    return loaded


def test_example_law_in_the_manual_works(law: Callable[[str], Law]) -> None:
    [[(value, score)]] = run_events(plant_of(law(EXAMPLE)), EVENTS)
    assert value == "B"
    assert score == pytest.approx(0.36787944)


REFUSED = {
    "without an equation": ("    write:", "write:", "has no equation"),
    "an undeclared column": ('"clock": fresh', '"time_of_day": fresh', "declares no such column"),
    "a belief above one": ("np.exp(-items", "2.0 + np.exp(-items", r"out of bounds.*replication 0.*v on x: B at 1 d"),
    "writing into its inputs": ("    fresh =", "    items['clock'][:] = 0.0\n    fresh =", "modified its input arrays"),
    "an undeclared parameter": ("tau = Param", "tao = Param", "undeclared parameter"),
    "state that starts from nothing": ('ItemField("time"', 'ItemField("noon"', "not a valid state column"),
    "a result of another kind": ("    return Change(", "    return dict(", "instead of a Change"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_faulty_law_is_refused_with_file_and_line(law: Callable[[str], Law], case: str) -> None:
    old, new, message = REFUSED[case]
    code = EXAMPLE.replace(old, new)
    if case == "without an equation":
        code = code.replace("    score =", "score =")
    assert code != EXAMPLE
    with pytest.raises(LawError, match=message) as error:
        run_events(plant_of(law(code)), EVENTS)
    assert re.search(r"steady\.py:[1-9]\d*", str(error.value))


def test_unknown_law_suggests_similar_names() -> None:
    with pytest.raises(LawError, match="graphiti"):
        find_law("grafiti")


@pytest.mark.parametrize(("alias", "name"), [("stored", "stored_score"), ("vote", "majority")])
def test_law_is_found_by_its_aliases(alias: str, name: str) -> None:
    assert find_law(alias).name == name


def test_every_law_is_listed_in_the_manual() -> None:
    from malsim.laws import shipped_laws

    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in shipped_laws() if not re.search(rf"[ ,]{name}\b", page)] == []
