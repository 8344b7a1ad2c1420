"""The board: built twice alike, killed and gone on with, told by pages that open offline."""

from __future__ import annotations

import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malsim.board import board
from malsim.board.board_files import board_text, small_board, write_board
from malsim.board.board_rows import BoardRow, find_rows, shipped_rows
from malsim.board.build_board import BoardJob, read_board
from malsim.board.families import FAMILIES, find_families
from malsim.board.figures import BoardSize, figure_of_parts, replication_means
from malsim.board.pages.board_page import index_page, page_name
from malsim.board.pages.shown_columns import columns_of
from malsim.board.places import noise_grid, standing
from malsim.cli import main
from malsim.judging.duties.engine.assessment import memory_of
from malsim.judging.duties.engine.duty import every_duty

SHIPPED = Path(__file__).parents[2] / "scenarios/board/board.json"
CORNER, FEW, SMALL = ["majority", "last_write"], ["prices", "headline", "loop"], BoardSize(replications=2)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("board")
    rows = [*find_rows(CORNER), BoardRow("absent", "package", "nowhere:Memory", "no-such-package")]
    data = board(rows, FEW, size=SMALL, folder=folder).data()
    write_board(data, folder)
    return folder, data


def test_a_board_built_from_nothing_is_equal_but_for_times(built: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    again = board(find_rows(CORNER), FEW, size=SMALL, folder=tmp_path).data()
    first = {name: part for name, part in built[1].items() if name not in ("times", "rows", "cells")}
    assert board_text({name: again[name] for name in first}) == board_text(first)
    own = [cell for cell in built[1]["cells"] if cell["row"] in CORNER]
    assert board_text({"cells": again["cells"]}) == board_text({"cells": own})


def test_a_board_that_was_killed_goes_on_and_only_what_changed_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, calls = find_rows(CORNER), list[str]()
    run = BoardJob.__call__

    def dies(job: BoardJob) -> dict[str, Any]:
        calls.append(f"{job.row.name}/{job.family}")
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run(job)

    monkeypatch.setattr(BoardJob, "__call__", dies)
    with pytest.raises(KeyboardInterrupt):
        board(rows, ["prices", "cost"], folder=tmp_path)
    assert board(rows, ["prices", "cost"], folder=tmp_path).ran == 2  # two of four were there
    assert board(rows, ["prices", "cost"], folder=tmp_path).ran == 0
    monkeypatch.setattr(BoardRow, "identity", lambda row: "changed" if row.name == "majority" else "as before")
    board(rows, ["prices"], folder=tmp_path)
    monkeypatch.setattr(BoardRow, "identity", lambda row: "changed again" if row.name == "majority" else "as before")
    assert board(rows, ["prices"], folder=tmp_path).ran == 1


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links, self.anchors, self.images, self.sources = list[str](), set[str](), list[dict[str, str]](), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.sources += [values[name] for name in ("src", "href") if name in values]
        if tag == "a":
            self.links.append(values["href"])
        if tag == "img":
            self.images.append(values)
        if "id" in values:
            self.anchors.add(values["id"])


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def test_every_cell_opens_its_run_and_no_page_asks_a_server(built: tuple[Path, dict[str, Any]]) -> None:
    folder, data = built
    index = read(folder / "index.html")
    assert not [source for source in index.sources if "//" in source]
    assert all(image["alt"] and (folder / image["src"]).stat().st_size for image in index.images)
    for link in (each for each in index.links if each.startswith("rows/")):
        path, _, anchor = link.partition("#")
        assert (folder / path).is_file()
        assert not anchor or anchor in read(folder / path).anchors
    text = (folder / "rows/majority.html").read_text(encoding="utf-8")
    cells = [cell for cell in data["cells"] if cell["row"] == "majority"]
    assert all(cell["hash"] in text and cell["commands"][-1] in text for cell in cells)
    assert "shortest lie" in text
    absent = (folder / "rows" / page_name("absent")).read_text(encoding="utf-8")
    assert "not installed" in absent
    assert "pip install" in absent
    assert len((folder / "board.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(data["cells"])
    assert read_board(folder / "board.json") == json.loads(board_text(data))


def test_places_and_the_grid_of_noise_come_from_the_parts_of_the_cells() -> None:
    metric = FAMILIES["loop"].metrics[0]
    conditions = FAMILIES["loop"].measure.conditions(SMALL)  # type: ignore[attr-defined]  # it draws
    spread = [0.0, 0.01] * 8

    def parts(values: list[float]) -> dict[str, list[float]]:
        return {name: [value + more for more in spread] for name, value in zip(conditions, values, strict=True)}

    figures = {
        "steady": figure_of_parts(metric, parts([0.9] * 8)),
        "low": figure_of_parts(metric, parts([0.5] * 8)),
        "turns": figure_of_parts(metric, parts([0.95, 0.95, 0.95, 0.95, 0.2, 0.2, 0.2, 0.2])),
    }
    places = standing([metric], {metric.name: figures})[metric.name]
    assert {name: (one["first"], one["last"]) for name, one in places["rows"].items()} == {
        "steady": (1, 1), "turns": (2, 2), "low": (3, 3),
    }  # fmt: skip
    grid = noise_grid(metric, figures)
    assert grid["counts"] == {"steady": ["low"]}
    assert [turn[:2] for turn in grid["turns"]] == [["low", "turns"], ["steady", "turns"]]
    assert (replication_means(figures["steady"].parts) == figure_means(figures["steady"])).all()


def figure_means(figure: Any) -> Any:
    return np.mean(list(figure.parts.values()), axis=0)


def shipped_cells() -> dict[tuple[str, str], dict[str, Any]]:
    data = json.loads(SHIPPED.read_text(encoding="utf-8"))
    cells = [dict(zip(data["columns"], cell, strict=True)) for cell in data["cells"]]
    return {(cell["row"], cell["metric"]): cell for cell in cells}


def test_a_corner_of_the_shipped_board_is_built_again(tmp_path: Path) -> None:
    assert SHIPPED.stat().st_size < 200_000
    data, cells = json.loads(SHIPPED.read_text(encoding="utf-8")), shipped_cells()
    assert {row["name"] for row in data["rows"]} <= {row.name for row in shipped_rows()}
    why = ("not asked: it takes too long", "not installed")  # what a board made by one command may lack
    assert all(cell["text"].startswith(why) for cell in cells.values() if not cell["hash"])
    size = BoardSize(data["size"]["replications"], data["size"]["seed"])
    corner = small_board(board(find_rows(["majority"]), ["prices", "headline"], size=size, folder=tmp_path).data())
    assert len(corner["cells"]) == 4
    for cell in (dict(zip(corner["columns"], each, strict=True)) for each in corner["cells"]):
        apart = {"hash": "", "place": None}  # of the code as it was, and among all rows
        assert cell | apart == cells[cell["row"], cell["metric"]] | apart


def test_a_column_that_is_the_same_for_all_stands_last_and_in_no_picture(built: tuple[Path, dict[str, Any]]) -> None:
    folder, data = built
    cells = [cell | {"value": 4.0} if cell["metric"] == "price of the lie" else cell for cell in data["cells"]]
    alike = {**data, "cells": cells}
    differ, same = columns_of(alike)
    assert same["price of the lie"] == 4.0
    assert "price of the lie" not in [one["name"] for one in differ]
    heads = [part.split("'")[0] for part in index_page(alike).split("data-name='")[1:]][: len(data["metrics"])]
    assert set(heads[-len(same) :]) == set(same)
    assert "the column price of the lie stands last, as it is 4 for all" in index_page(alike)
    assert columns_of(data)[0][0]["name"] == "price of the lie"
    small = json.loads((folder / "small.json").read_text(encoding="utf-8"))
    assert len(small["cells"]) == len(data["cells"])


def test_duties_are_asked_of_what_the_conformance_command_asks() -> None:
    for row in find_rows(["governed", "guarded", "majority"]):
        assert FAMILIES["duties"].shown_by(row, SMALL)[0] == f"malsim conformance {row.keeper}"
    governed = find_rows(["governed"])[0]
    assert {"correct", "forget", "allow"} <= memory_of(governed.keeper).offers  # the store, not the bare graph
    shipped = shipped_cells()
    offered = Counter(duty.kind for duty in every_duty().values())
    assert {kind: shipped["governed", f"{kind}s"]["text"] for kind in offered} == {
        kind: f"{number} of {number}" for kind, number in offered.items()
    }


def test_the_lines_of_a_witness_make_the_memory_and_know_no_bench() -> None:
    row = BoardRow("mine", "package", "tests.board.memories:Votes")
    for family in ("axioms", "duties", "prices"):
        streams = [one.stream for figure in FAMILIES[family].measure(row, SMALL) for one in figure.witnesses]
        assert streams
        assert all("from tests.board.memories import Votes" in stream for stream in streams)
        assert not any("malsim" in stream for stream in streams)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(["--rows", "majorty"], "did you mean majority"), (["--families", "axoms"], "did you mean axioms"),
     (["--rows", "none"], "no row"), (["--replications", "1"], "too few"), (["ad", "x:Y"], "did you mean add"),
     (["add"], "which one"), (["--memory", "nowhere:Nothing"], "cannot be imported"), (["merge", "gone.json"], "board")],
)  # fmt: skip
def test_what_the_command_refuses(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["board", *arguments, "-o", str(tmp_path / "board")]) == 2
    assert problem in capsys.readouterr().err


def test_families_are_found_by_name() -> None:
    assert [family.name for family in find_families([])] == list(FAMILIES)
