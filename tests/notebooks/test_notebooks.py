"""Tests for the notebooks: stored outputs, structure, and exercises that grade themselves."""

from __future__ import annotations

import re
from typing import Any

import pytest

from malsim.examples import USES
from malsim.showing.notebook.exercise import graded
from tests.notebooks.execution import FOLDER, NAMES, execute, notebook, shown

ANSWER = re.compile(r"```python\n(.*?)```", re.DOTALL)
EXERCISES = {"09_hal_by_hand": 2}  # number of exercises; all other notebooks have one
PUBLIC = re.compile(r"^\s*(?:from|import) malsim\.(?!memory|adapters|judging\.axioms)", re.MULTILINE)


def tagged(cells: list[Any], tag: str) -> list[Any]:
    return [cell for cell in cells if tag in cell.metadata.get("tags", [])]


def test_there_are_at_most_twelve_notebooks_ordered_by_use() -> None:
    uses = [notebook(name).metadata.malsim.use for name in NAMES]
    assert len(NAMES) <= 12
    assert [name[:2] for name in NAMES] == [f"{number:02d}" for number in range(len(NAMES))]
    assert uses == sorted(uses, key=list(USES).index)
    assert {*uses} == {*USES}


@pytest.mark.parametrize("name", NAMES)
def test_notebook_stores_its_outputs_without_local_paths(name: str) -> None:
    import nbformat

    content = notebook(name)
    nbformat.validate(content)
    code = [cell for cell in content.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    assert not re.search(r"/home/|/tmp/|/root/|\d it/s", "".join(map(shown, code)))
    assert [cell.id for cell in content.cells] == [f"{name[:2]}-{index:02d}" for index in range(1, len(content.cells) + 1)]
    assert (FOLDER / f"{name}.ipynb").stat().st_size <= 400_000


@pytest.mark.parametrize("name", NAMES)
def test_notebook_has_a_goal_and_an_exercise(name: str) -> None:
    content = notebook(name)
    assert content.cells[0].source.startswith(f"# {name[:2]} · ")
    assert content.cells[0].source.splitlines()[2].startswith("After this notebook you can ")
    text = "\n".join(cell.source for cell in content.cells if cell.cell_type == "markdown")
    assert text.index("## The answer") < text.index("## Exercise") < text.index("<summary>One answer</summary>")
    answers = ANSWER.findall(content.cells[-1].source)
    assert len(tagged(content.cells, "exercise")) == len(tagged(content.cells, "graded")) == len(answers) == EXERCISES.get(name, 1)
    source = "\n".join(cell.source for cell in content.cells)
    assert not re.search(r"https?://|requests|urllib|!pip|%pip", source)
    assert not PUBLIC.search(source)


@pytest.mark.parametrize("names", [["00_start_here"], pytest.param(NAMES, marks=pytest.mark.nightly)], ids=["first", "all"])
def test_notebooks_reproduce_their_stored_text_outputs(names: list[str]) -> None:
    from nbformat.v4 import new_code_cell

    parts = {name: notebook(name).cells for name in names}
    stored = {name: [shown(cell) for cell in cells] for name, cells in parts.items()}
    grades = {name: [cell.source for cell in tagged(cells, "graded")] for name, cells in parts.items()}
    for name, cells in parts.items():
        for pair in zip(ANSWER.findall(cells[-1].source), grades[name], strict=True):
            cells.extend(map(new_code_cell, pair))
    execute(parts)
    for name, cells in parts.items():
        assert [shown(cell) for cell in cells[: len(stored[name])]] == stored[name], name
        for grade in grades[name]:
            verdicts = [shown(cell).split("\n")[0] for cell in cells if cell.source == grade]
            assert verdicts == ["not yet", "passed"], name


def test_exercise_answer_passes_if_all_its_properties_hold() -> None:
    assert graded({"a": True, "b": True}).passed
    assert not graded({"a": True, "b": False}).passed
    with pytest.raises(ValueError, match="at least one property"):
        graded({})
