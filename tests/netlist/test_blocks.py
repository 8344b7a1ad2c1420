"""Tests of blocks: wiring from a shipped file or the netlist's folder, inlined under prefixed names."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import malsim.netlist
from malsim.netlist import NetlistError, lint, load, parse, read
from malsim.netlist.wiring import link
from malsim.netlist.wiring.blocks import inlined, shipped
from malsim.scenario.file.scenario_file import parse as scenario
from malsim.scenario.file.scenario_file import read as read_scenario
from malsim.scenario.rerun import rerun
from malsim.sim.bench import run

SHIPPED = sorted((Path(malsim.netlist.__file__).parent / "shipped").glob("*.malnet"))
BLOCK = """\
# halves, then doubles
loadrt scale names=half,double
net x half.in
net mid half.out > double.in
net y double.out
setp half.gain 0.5
setp double.gain 2
x = 3
addf half tick
addf double tick
"""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_blocks_link_and_have_a_description(path: Path) -> None:
    block = shipped(path.stem)
    assert block is not None
    assert block.statements[0].comment.startswith(f"# {path.stem}:")
    net = link(parse(f"addf {path.stem} tick"))
    functions = link(block).threads[0].functions
    providers = [name for name in functions if "." in name]  # functions of standing signals that the block reads
    prefixed = [f"{path.stem}.{name}" for name in functions if "." not in name]
    assert net.threads[0].functions == (*providers, *prefixed)
    late = [note for note in lint(block) if "late" in note.problem]
    assert late == []


def net(tmp_path: Path, text: str, block: str = BLOCK, name: str = "there-and-back") -> malsim.netlist.Document:
    (tmp_path / f"{name}.malnet").write_text(block)
    (tmp_path / "it.malnet").write_text(text)
    return read(tmp_path / "it.malnet")


def test_addf_inserts_all_functions_of_a_block_at_its_position(tmp_path: Path) -> None:
    text = "loadrt not names=a,b,c\naddf a tick\naddf b tick\naddf there-and-back tick {}\naddf c tick\n"
    expected = {
        "": "a b there-and-back.half there-and-back.double c", "1": "there-and-back.half there-and-back.double a b c",
        "2": "a there-and-back.half there-and-back.double b c", "-2": "a there-and-back.half there-and-back.double b c",
    }  # fmt: skip
    for position, order in expected.items():
        result = link(net(tmp_path, text.format(position)))
        assert " ".join(result.threads[0].functions) == order


def test_block_signals_and_settings_use_full_names(tmp_path: Path) -> None:
    text = "net there-and-back.y > cell-flags-pinned\naddf there-and-back tick\n"
    with pytest.raises(NetlistError, match="carries a float"):
        link(net(tmp_path, text))
    text = "net there-and-back.y watch.in\nsetp there-and-back.half.gain 0.25\naddf there-and-back tick\naddf watch tick\n"
    result = link(net(tmp_path, text))
    assert result.signals["there-and-back.y"].readers[0].word == "watch.in"
    assert result.instances["there-and-back.half"].settings == {"gain": "0.25"}
    assert result.initial == {"there-and-back.x": 3.0}


def test_instances_and_ops_take_precedence_over_blocks(tmp_path: Path) -> None:
    assert link(net(tmp_path, "addf watch tick\n", name="watch")).threads[0].functions == ("watch",)
    document = net(tmp_path, "addf contradiction-load tick\n", name="contradiction-load")
    assert link(document).threads[0].functions == ("contradiction-load.half", "contradiction-load.double")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ('dec_a3ee "a"\n', "must not contain cells"),
        ("thread slow every 2\n", "must not contain threads"),
        ("addf watch tick [keys: a]\n", "must not contain threads"),
        ("addf there-and-back tick\n", "must not contain itself"),
        ("net x nobody.in\n", "no such instance"),
    ],
)
def test_block_with_forbidden_statement_is_refused(tmp_path: Path, block: str, message: str) -> None:
    with pytest.raises(NetlistError, match=message) as error:
        link(net(tmp_path, "addf there-and-back tick\n", block))
    assert "there-and-back.malnet:1" in str(error.value)


def test_repeated_or_unknown_block_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetlistError, match="already been added"):
        link(net(tmp_path, "addf there-and-back tick\naddf there-and-back tick\n"))
    with pytest.raises(NetlistError, match="no such function"):
        link(parse("addf there-and-back tick\n"))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "it.malnet").write_text("addf ../there-and-back tick\n")
    with pytest.raises(NetlistError, match="no such function"):
        link(read(tmp_path / "in" / "it.malnet"))


def test_nested_blocks_are_inlined_as_plain_statements(tmp_path: Path) -> None:
    (tmp_path / "inner.malnet").write_text(BLOCK)
    document = net(tmp_path, "addf outer tick\n", "net z watch.in\naddf inner tick\naddf watch tick\n", "outer")
    assert link(document).threads[0].functions == ("outer.inner.half", "outer.inner.double", "outer.watch")
    plain, faults = inlined(document)
    assert not faults
    assert link(parse(malsim.netlist.render(plain))).threads[0].functions == link(document).threads[0].functions


def test_scenario_with_block_reruns_from_its_manifest(tmp_path: Path) -> None:
    net(tmp_path, "net day there-and-back.half.in\naddf there-and-back tick\n", BLOCK.replace("net x half.in\nx = 3\n", ""))
    (tmp_path / "it.malnet").write_text("addf there-and-back tick\n")
    (tmp_path / "it.toml").write_text("why = 'x'\n[run]\ndays = 3\n[netlist]\nfile = 'it.malnet'\n")
    result = run(read_scenario(tmp_path / "it.toml"))
    assert result.signals.filter(signal="there-and-back.y")["value"].to_list() == [3.0] * 3
    result.write(tmp_path / "out")
    for file in tmp_path.glob("*.malnet"):
        file.unlink()
    assert rerun(tmp_path / "out" / "manifest.json").same


def test_contradiction_load_block_flags_mostly_disputed_cells() -> None:
    text = """
why = "x"
[run]
days = 8
[rules]
calibration = "none"
[netlist]
text = '''
net contradiction-load.disputed > cell-flags-review
addf contradiction-load tick
'''
"""
    claim = "[[claim]]\nat = '{}d'\nwriter = '{}'\nhandle = '{}'\ntitle = '{}'\nconfidence = 0.8\n"
    for handle in ("obs_aaaa", "obs_bbbb"):
        text += claim.format(0, "ann", handle, handle)
    edges = [("contradicts", "obs_aaaa"), ("supports", "obs_bbbb"), ("contradicts", "obs_bbbb")]
    for index, (relation, target) in enumerate(edges):
        text += claim.format(2, f"w{index}", f"obs_{index}000", index)
        text += f"verification = 'external'\nedges = [{{ relation = '{relation}', target = '{target}' }}]\n"
    result = run(scenario(text))
    assert result.memory.cells.filter("requires_review")["handle"].to_list() == ["obs_aaaa"]
    bits = result.signals.filter(signal="contradiction-load.disputed", row="obs_aaaa")
    assert bits["value"].to_list() == [0.0] * 1 + [float(t > 2) for t in range(2, 9)]
    assert load("").net.instances == {}
    assert result.signals.filter(pl.col("signal") == "contradiction-load.excess").height > 0
