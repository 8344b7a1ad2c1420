"""Program cells that would run nothing are refused at the gate, with a sentence that would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from malsim import Memory, Rules, Store
from malsim.memory import admit
from malsim.memory.gate.checks import PROGRAMS
from malsim.netlist.programs.operations import OPERATIONS
from malsim.netlist.programs.program import fault_of

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
def test_idle_programs_are_refused_with_a_sentence_that_runs(body: str, tmp_path: Path) -> None:
    verdict = admit(Memory.empty(), [claim(body)]).verdicts.row(0, named=True)
    assert verdict["verdict"] == "refused"
    assert [issue["path"] for issue in verdict["issues"]] == ["body"]
    assert verdict["issues"][0]["message"].endswith(IDLE[body])
    assert fault_of(IDLE[body]) == ""
    assert admit(Memory.empty(), [claim(IDLE[body])]).verdicts["verdict"].to_list() == ["admitted"]
    with Store(tmp_path / "m.sqlite") as store:
        assert store.admit([claim(body)])["verdict"].to_list() == ["refused"]


def test_the_gate_knows_every_operation_of_programs() -> None:
    assert set(PROGRAMS) == set(OPERATIONS)


def test_the_reference_keeps_programs_that_run_nothing() -> None:
    assert admit(Memory.empty(), [claim("rm -rf")], Rules.recall_v5()).verdicts["verdict"].to_list() == ["admitted"]
