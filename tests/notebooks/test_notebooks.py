"""Every notebook runs from clean, stores no outputs, and has an exercise that a wrong answer fails and a right one passes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from malsim.showing.notebook.exercise import Grade, graded

FOLDER = Path(__file__).parents[2] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
EXPECTED = [
    "00_start_here", "01_worked_example", "02_why_it_rings", "03_tune_the_ceilings", "04_decay_constants",
    "05_writers_and_calibration",
    "06_real_claims", "07_hal_by_hand", "08_tripwires", "09_your_own_formula", "10_the_defect_zoo", "11_whom_to_believe",
    "12_your_own_memory", "13_people_in_the_loop", "14_what_a_lie_costs", "15_stored_or_computed", "16_two_memories",
    "17_crash_on_the_shop_floor",
]  # fmt: skip
ANSWER = re.compile(r"```python\n(.*?)```", re.DOTALL)
EXERCISES = {"07_hal_by_hand": 2}  # others have one
SLOWEST = 120


def notebook(name: str) -> Any:
    import nbformat  # takes three seconds, so not for a test of another file

    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]


def tagged(made: Any, tag: str) -> list[Any]:
    return [cell for cell in made.cells if tag in cell.metadata.get("tags", [])]


def test_they_are_those_that_are_named() -> None:
    assert NAMES == EXPECTED


@pytest.mark.parametrize("name", NAMES)
def test_it_is_stored_clean(name: str) -> None:
    import nbformat

    made = notebook(name)
    nbformat.validate(made)
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    assert not [cell for cell in code if cell.outputs or cell.execution_count is not None]
    assert [cell.id for cell in made.cells] == [f"{name[:2]}-{place:02d}" for place in range(1, len(made.cells) + 1)]
    assert set(made.metadata) == {"kernelspec", "language_info"}


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_with_its_question_and_ends_with_an_answer_and_an_exercise(name: str) -> None:
    made = notebook(name)
    assert made.cells[0].source.startswith(f"# {name[:2]} · ")
    assert "**The question.**" in made.cells[0].source
    assert "you will be able to" in made.cells[0].source.replace("\n", " ")
    text = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert text.index("## The answer") < text.index("## Exercise") < text.index("<summary>One answer</summary>")
    answers = ANSWER.findall(made.cells[-1].source)
    assert len(tagged(made, "exercise")) == len(tagged(made, "graded")) == len(answers) == EXERCISES.get(name, 1)
    source = "\n".join(cell.source for cell in made.cells)
    assert not re.search(r"https?://|requests|urllib|!pip|%pip", source)


@pytest.mark.parametrize("names", [["00_start_here", "08_tripwires", "12_your_own_memory"], NAMES], ids=["three", "all"])
def test_they_run_from_clean_and_their_exercises_tell_right_from_wrong(names: list[str]) -> None:
    """One kernel for all, emptied before each, for a kernel's start costs more than most of them."""
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    parts = {name: notebook(name).cells for name in names}
    for cells in parts.values():
        answers = ANSWER.findall(cells[-1].source)
        grades = [cell.source for cell in cells if "graded" in cell.metadata.get("tags", [])]
        cells.insert(0, new_code_cell("%reset -f"))  # type: ignore[no-untyped-call]
        cells += [new_code_cell(text) for pair in zip(answers, grades, strict=True) for text in pair]  # type: ignore[no-untyped-call]
    every = new_notebook(cells=[cell for cells in parts.values() for cell in cells])  # type: ignore[no-untyped-call]
    place = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(every, kernel_name="python3", timeout=SLOWEST, resources=place, allow_errors=True).execute()
    assert {name: problems(cells) for name, cells in parts.items()} == dict.fromkeys(names, "")


def problems(cells: list[Any]) -> str:
    """What is wrong with a notebook that was run."""
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    told = [f"{output.ename}: {output.evalue}" for output in outputs if output.output_type == "error"]
    told += [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    if not any("image/png" in output.get("data", {}) for output in outputs):
        told.append("no picture")
    for grade in [cell.source for cell in cells if "graded" in cell.get("metadata", {}).get("tags", [])] if not told else []:
        verdicts = [said(cell) for cell in cells if cell.source == grade]
        if [verdict.split("\n")[0] for verdict in verdicts] != ["not yet", "passed"]:
            told += verdicts
    return "\n".join(told)


def said(cell: Any) -> str:
    """What a cell's last expression shows."""
    return next(str(output.data["text/plain"]) for output in cell.outputs if "data" in output)


def test_a_grade_is_passed_where_all_of_it_holds() -> None:
    assert graded({"a": True, "b": True}).passed
    assert not graded({"a": True, "b": False}).passed
    assert repr(Grade({"a": False})) == "not yet\n  fails: a"
    with pytest.raises(ValueError, match="asks for something"):
        graded({})
