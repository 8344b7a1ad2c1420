"""Refusal of inputs whose processing cost grows faster than their length."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from malsim.base.errors import MalsimError
from malsim.memory import Rules
from malsim.netlist import NetlistError
from malsim.netlist.hal import read_hal
from malsim.scenario.file.scenario_file import parse

MANY = 20_000
INSTANCES = f"loadrt limit1 names={','.join(f'a{n}' for n in range(1_100))}\n"
NETS = "".join(f"net s{n} a{n}.out\n" for n in range(1_100))
REFUSED: dict[str, tuple[str, Callable[[], object]]] = {
    "a dotted key": ("a key of more than 100 parts", lambda: parse(f'why = "x"\na{".a" * MANY} = 1\n')),
    "a dotted table": ("a key of more than 100 parts", lambda: parse(f'why = "x"\n[a{" . a" * MANY}]\n')),
    "a count": ("too many instances", lambda: read_hal("loadrt limit1 count=90000000000000000\n")),
    "a count of digits": ("too many instances", lambda: read_hal(f"loadrt limit1 count={'9' * MANY}\n")),
    "counts": ("too many instances", lambda: read_hal("loadrt limit1 count=9999\nloadrt limit2 count=9999\n")),
    "a period of nothing": (
        "period of a thread is out of bounds",
        lambda: read_hal("loadrt threads name1=t period1=1e-320\n"),
    ),
    "removals": (
        "too many removal commands",
        lambda: read_hal(INSTANCES + NETS + "".join(f"delsig s{n}\n" for n in range(1_100))),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_input_that_is_too_costly_to_process_is_refused(name: str) -> None:
    problem, read = REFUSED[name]
    with pytest.raises(MalsimError, match=problem):
        read()


def test_rules_with_a_long_dotted_key_are_refused(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(f"rules{'.a' * MANY} = 1\n", encoding="utf-8")
    with pytest.raises(MalsimError, match="not a TOML file"):
        Rules.read(tmp_path / "r.toml")


def test_prose_with_many_dots_is_not_mistaken_for_a_key() -> None:
    prose = " . ".join("ab" for _ in range(300)) + "." * 300
    assert parse(f'why = """\nx {"." * 300}\n"""\n[[claim]]\nat = "0d"\nwriter = "a"\ntitle = "{prose}"\nconfidence = 0.5\n')


def test_total_size_of_sourced_files_is_limited(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"a{number}.hal").write_text(f"source a{number + 1}.hal\n" * 10, encoding="utf-8")
    with pytest.raises(MalsimError) as refused:
        read_hal("source a0.hal\n", folder=tmp_path)
    assert isinstance(refused.value, NetlistError)
    assert any(fault.problem == "the sourced files are too large" for fault in refused.value.faults)
    assert len(refused.value.faults) < MANY
