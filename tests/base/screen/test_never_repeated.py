"""A credential in a scenario appears in nothing that `malsim run` prints or writes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from malsim.cli import main

TOKEN = "ghp_" + "Zk3v9Qp2Xw7Lm4Tb8Rn1" + "Yc6Ds0Fg5HjK"
SCRIPTED = (
    'why = "x"\n[run]\ndays = 2\n[[facts]]\nname = "{fact}"\n[[claim]]\nat = "0d"\nwriter = "{writer}"\nobject = "{fact}"\n'
    'value = 1\ntitle = "{title}"\nbody = "{body}"\nconfidence = 0.5\n[[claim]]\nat = "0d"\nwriter = "bob"\nhandle = "{handle}"\n'
    'title = "fine"\nconfidence = 0.5\n[[writers]]\nname = "{population}"\nbehaviour = "honest"\nevery = "1d"\n'
)
FIELDS = {
    "fact": "pump", "writer": "ann", "title": "t", "body": "b", "handle": "obs_a1a1", "population": "crowd",
}  # fmt: skip


def text_in(folder: Path) -> str:
    """Return the contents of all files in the folder as one text, including decoded Parquet files."""
    frames = [str(pl.read_parquet(path).to_dicts()) for path in folder.rglob("*.parquet")]
    return "".join([*frames, *(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())])


@pytest.mark.parametrize("law", ["mal", "last_write"])
@pytest.mark.parametrize("field", FIELDS)
def test_run_never_prints_or_writes_a_credential(
    field: str, law: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text(SCRIPTED.format(**FIELDS | {field: TOKEN}), encoding="utf-8")
    main(["run", "x.toml", "--law", law, "-o", "out", "--no-plots"])
    output = "".join(capsys.readouterr())
    assert TOKEN not in output
    assert not (tmp_path / "out").exists() or TOKEN not in text_in(tmp_path / "out")
