"""A row from outside: taken where it is as it says, refused with the cell where it is not."""

from __future__ import annotations

import json
from dataclasses import replace
from math import comb
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import MalsimError
from malsim.board import board
from malsim.board.board_files import write_board
from malsim.board.board_rows import find_rows, own_row
from malsim.board.bundle import Bundle, bundle_of, check_bundle, odds, read_bundle
from malsim.board.families import FAMILIES
from malsim.board.figures import BoardSize, Figure, figure_of_parts
from malsim.cli import main

OWN, FEW = "tests.board.memories:Votes", ["prices", "loop"]
SIZE = BoardSize(replications=2)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    row = own_row(OWN)
    return bundle_of(board([row], FEW, size=SIZE, folder=tmp_path_factory.mktemp("bundle")), row)


def forged(bundle: Bundle, family: str, place: int, figure: Figure) -> Bundle:
    several = list(bundle.figures[family])
    several[place] = figure
    return replace(bundle, figures={**bundle.figures, family: tuple(several)})


def test_a_bundle_is_read_as_it_was_written_and_taken_into_a_board(
    bundle: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "Votes.bundle.json"
    path.write_text(bundle.text(), encoding="utf-8")
    assert read_bundle(path) == bundle
    write_board(board(find_rows(["majority"]), FEW, size=SIZE, folder=tmp_path / "b").data(), tmp_path / "b")
    assert main(["board", "merge", str(path), "-o", str(tmp_path / "b")]) == 2
    assert "--allow-code" in capsys.readouterr().err
    assert main(["board", "merge", str(path), "-o", str(tmp_path / "b"), "--allow-code", "--seed", "3"]) == 0
    data = json.loads((tmp_path / "b/board.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in data["rows"]] == ["majority", OWN]
    assert OWN in data["standing"]["accuracy"]["rows"]
    page = (tmp_path / "b/index.html").read_text(encoding="utf-8")
    assert "refused for certain" in page
    assert "19 times of 20" in page


def test_a_bundle_with_one_forged_cell_is_refused_with_the_cell_in_nineteen_merges_of_twenty(bundle: Bundle) -> None:
    price = bundle.figures["prices"][0]
    lie = forged(bundle, "prices", 0, replace(price, value=9.0, text="9", parts={"claims": [9.0]}))
    accuracy = bundle.figures["loop"][0]
    better = {name: [min((value or 0.0) + 0.02, 1.0) for value in values] for name, values in accuracy.parts.items()}
    shifted = forged(bundle, "loop", 0, figure_of_parts(FAMILIES["loop"].metrics[0], better))
    refusals = 0
    for seed in range(20):
        with pytest.raises(MalsimError, match="price of the lie"):
            check_bundle(lie, seed=seed)
        try:
            check_bundle(shifted, seed=seed)
        except MalsimError as problem:
            refusals += "accuracy" in str(problem)
    assert refusals >= 19
    with pytest.raises(MalsimError, match="what its own parts come to"):
        check_bundle(forged(bundle, "loop", 0, replace(accuracy, value=1.0, text="1")), seed=0)


def test_a_changed_file_and_what_is_no_bundle_are_refused(bundle: Bundle, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(bundle.text().replace('"n": 2', '"n": 3', 1), encoding="utf-8")
    with pytest.raises(MalsimError, match="its hash is not"):
        read_bundle(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(MalsimError, match="cannot be read as a bundle"):
        read_bundle(path)


@given(st.integers(5, 400))
def test_the_odds_that_the_page_says_are_those_of_the_draw(runs: int) -> None:
    again = min(runs, max(-(-runs // 10), 5))
    words = odds(runs, again)
    enough = int(words.split("19 times of 20 where ")[1].split()[0])
    assert 1.0 - comb(runs - enough, again) / comb(runs, again) >= 0.95
    assert enough == 1 or 1.0 - comb(runs - enough + 1, again) / comb(runs, again) < 0.95


def test_a_maker_gets_a_bundle_a_badge_and_a_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    badge, summary = tmp_path / "votes.svg", tmp_path / "summary.md"
    command = ["board", "add", OWN, "--families", "axioms", "--badge", str(badge), "--summary", str(summary)]
    assert main([*command, "-o", str(tmp_path / "b")]) == 0
    assert "sha256" in capsys.readouterr().out
    assert (tmp_path / "b/Votes.bundle.json").is_file()
    assert " axioms</title>" in badge.read_text(encoding="utf-8")
    assert "| axioms |" in summary.read_text(encoding="utf-8")
