"""Tests that a program cell which would run nothing is refused, and that the refusal shows a valid example."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from malsim import Memory, Rules, Store
from malsim.cli import main
from malsim.memory import admit
from malsim.memory.gate.features import PROGRAMS
from malsim.netlist import NetlistError, load
from malsim.netlist.programs.operations import OPERATIONS
from malsim.netlist.programs.program import fault_of, program_cells

if TYPE_CHECKING:
    from pathlib import Path

IDLE = {
    "rm -rf": "addf watch tick [keys: HANDLE]",
    "watch dec_5a27 below 0.5": "addf watch tick [keys: dec_5a27]",
    "if eff < .5 then alert": "addf watch tick [keys: HANDLE]",
    "a Trend of obs_00ff": "addf trend tick [keys: obs_00ff]",
    "addf wotch tick [keys: dec_5a27]": "addf watch tick [keys: dec_5a27]",
    "": "addf watch tick [keys: HANDLE]",
}


def claim(body: str) -> dict[str, object]:
    return {"writer": "ann", "kind": "prg", "title": "guard", "body": body, "confidence": 0.7}


@pytest.mark.parametrize("body", IDLE)
def test_program_that_runs_nothing_is_refused_with_an_example(body: str, tmp_path: Path) -> None:
    verdict = admit(Memory.empty(), [claim(body)]).verdicts.row(0, named=True)
    assert verdict["verdict"] == "refused"
    assert [issue["path"] for issue in verdict["issues"]] == ["body"]
    assert verdict["issues"][0]["message"].endswith(IDLE[body])
    assert fault_of(IDLE[body]) == ""
    assert admit(Memory.empty(), [claim(IDLE[body])]).verdicts["verdict"].to_list() == ["admitted"]
    with Store(tmp_path / "m.sqlite") as store:
        assert store.admit([claim(body)])["verdict"].to_list() == ["refused"]


@pytest.mark.parametrize("body", ["rm -rf", "stands on the tick and does nothing", "stands on the tick and does watch\nrm"])
def test_claim_posted_by_a_program_is_refused_if_it_runs_nothing(body: str) -> None:
    verdict = admit(Memory.empty(), [claim(body) | {"origin": "program"}]).verdicts.row(0, named=True)
    assert [issue["path"] for issue in verdict["issues"]] == ["body"]


def test_valid_claim_posted_by_a_program_is_scheduled() -> None:
    memory = admit(Memory.empty(), [claim("addf watch tick [keys: dec_5a27]") | {"origin": "program"}]).memory
    assert [item.programs[0].operation for item in program_cells(memory, after=0, tick=1)] == ["watch"]


@pytest.mark.parametrize("body", IDLE)
def test_netlist_with_a_program_that_runs_nothing_is_refused(body: str) -> None:
    with pytest.raises(NetlistError, match=re.escape(IDLE[body])) as error:
        load(f'dec_a3ee "use SQLite"\nprg_00aa "guard"\n  body "{body}"\n')
    assert [fault.line for fault in error.value.faults] == [2]
    assert load(f'prg_00aa "guard"\n  body "{IDLE[body]}"\n').memory.height == 1


def test_import_omits_and_reports_programs_that_run_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells: list[dict[str, Any]] = [
        {"key": handle, "handle": handle, "kind": "prg", "title": handle, "body": body, "owner": "ann", "props": props}
        for handle, body, props in (
            ("prg_00aa", "watch dec_5a27 below 0.5", {}), ("prg_00bb", "addf watch tick [keys: dec_5a27]", {}),
            ("prg_00cc", "standing quorum program", {"program": {"kind": "quorum"}}),
        )
    ]  # fmt: skip
    (tmp_path / "it.json").write_text(json.dumps({"cells": cells}))
    assert main(["import", str(tmp_path / "it.json"), "-o", str(tmp_path / "m.sqlite")]) == 0
    assert f"left out: prg_00aa: this program runs nothing; the nearest valid line is: {IDLE[cells[0]['body']]}" in (
        capsys.readouterr().out
    )
    assert Memory.open(tmp_path / "m.sqlite").cells["handle"].to_list() == ["prg_00bb", "prg_00cc"]


def test_gate_accepts_every_program_operation() -> None:
    assert set(PROGRAMS) == set(OPERATIONS)


def test_recall_v5_rules_admit_programs_that_run_nothing() -> None:
    assert admit(Memory.empty(), [claim("rm -rf")], Rules.recall_v5()).verdicts["verdict"].to_list() == ["admitted"]
