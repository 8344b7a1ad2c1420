"""Laws of other packages: a broken one is named, harms no other, and is a typed error wherever it is asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from malsim.adapters.calls import Calls
from malsim.cli import main
from malsim.errors import LawError
from malsim.laws import faulty_laws, find_law, registry_reset, shipped_laws

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAW = '''"""The last value said.

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
TICKS = {
    "raises": "raise KeyError('no')",
    "exits": "import sys; sys.exit(0)",
    "hangs": "import threading; threading.Event().wait()",
    "answers": "return 'high'",
    "shapes": "return np.ones((7, 7))",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
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
def test_a_law_that_does_not_load_is_named_and_harms_no_other(
    text: str, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(site, "their_broken_law", text, "theirs")
    assert find_law("mal").name == "mal"
    assert "theirs" not in shipped_laws()
    with pytest.raises(LawError, match="theirs"):
        find_law("theirs")
    assert main(["laws"]) == 0
    assert "theirs (their_broken_law): does not load" in capsys.readouterr().out
    assert main(["laws", "theirs"]) == 2


def test_a_law_takes_no_name_of_ours(site: Path) -> None:
    install(site, "their_mal", LAW.format(function="belief", body="return np.ones(items.alive.shape)"), "mal")
    assert find_law("mal").path.endswith("malsim/laws/mal.py")
    assert "taken by a law of malsim" in str(faulty_laws()["mal"])


@pytest.mark.parametrize("what", TICKS)
def test_a_law_that_fails_while_it_runs_is_a_typed_error_in_every_command(
    what: str, site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Calls.__init__, "__defaults__", (0.3,))
    install(site, "their_law", LAW.format(function="belief", body=TICKS[what]), "theirs")
    monkeypatch.chdir(site)
    (site / "x.toml").write_text(SCENARIO, encoding="utf-8")
    (site / "claims.csv").write_text("writer,object,value\nann,a,1\nbob,a,2\n", encoding="utf-8")
    for command in (["run", "x.toml", "--law", "theirs"], ["replay", "claims.csv", "--law", "theirs"]):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert "their_law.py" in said
        assert "this is a bug" not in said
        registry_reset()
