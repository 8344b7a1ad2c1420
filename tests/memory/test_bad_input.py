"""Tests of invalid claims and frames: faults are reported with their path, and credentials are refused, never repeated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import DataError
from malsim.base.screen import holds_secret, redacted
from malsim.base.screen.credentials import stand_in
from malsim.memory import Memory, admit, tick
from malsim.memory.gate.edit import connect
from malsim.scenario.file.scenario_file import parse

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"handle": "obs_aaaa", "writer": "ann", "title": "stands", "confidence": 0.5}
KINDS = (
    "API key", "AWS access key id", "GitHub token", "Slack token", "JSON web token", "private key", "bearer token",
    "GitLab token", "Google API key", "Stripe key", "npm token", "Slack webhook", "credentials in an address",
    "password hash", "seed phrase",
)  # fmt: skip
SECRETS = [*((kind, stand_in(kind)) for kind in KINDS), ("assigned secret", "pass" + "word=" + stand_in("assigned secret"))]


def refused(**bad: Any) -> list[str]:
    memory, _ = admit(Memory.empty(), [GOOD])
    after, verdicts = admit(memory, [GOOD | {"handle": "obs_bbbb", "title": "new"} | bad])
    assert after.cells.equals(memory.cells)
    assert after.edges.equals(memory.edges)
    return [issue["path"] for issue in verdicts["issues"][0].to_list()]


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        ({"confidence": 0.0}, "confidence"),
        ({"confidence": 1.0001}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"confidence": 10**400}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"handle": None, "kind": "nonsense"}, "kind"),
        ({"handle": "obs_ünïcödé"}, "handle"),
        ({"handle": "obs_" + "a" * 60}, "handle"),
        ({"handle": "dec_aaaa", "kind": "obs"}, "handle"),
        ({"handle": "dec_aaaa", "kind": "nonsense"}, "handle"),
        ({"handle": "obs_aaaa"}, "handle"),
        ({"value": float("nan")}, "value"),
        ({"title": " \t\n"}, "title"),
        ({"writer": ""}, "writer"),
        ({"t": float("inf")}, "t"),
        ({"rep": -1}, "rep"),
        ({"value": float("-inf")}, "value"),
        ({"topics": ["a", " "]}, "topics[1]"),
        ({"edges": [{"relation": "supports", "target": "obs_ffff"}]}, "edges[0].target"),
        ({"edges": [{"relation": "supports", "target": "obs_bbbb"}]}, "edges[0].target"),
        ({"edges": [{"relation": "supports", "target": "obs_aaaa"}] * 2}, "edges[1].target"),
        ({"edges": [{"relation": "supports", "target": "obs_aaaa", "weight": float("nan")}]}, "edges[0].weight"),
        ({"edges": [{"relation": "supports", "target": "obs_aaaa", "weight": 2.0}]}, "edges[0].weight"),
        ({"edges": [{"relation": None, "target": None}]}, "edges[0].relation"),
        ({"nonsense": 1}, "nonsense"),
        ({"title": "a\ud800b"}, "title"),
        ({"topics": ["a\ud800b"]}, "topics[0]"),
        ({"rep": 2_000_000_000}, "rep"),
        ({"rep": 2**31}, "rep"),
        ({"sequence": 2**63}, "sequence"),
        ({"edges": ["supports"]}, "edges[0].relation"),
        ({"valid_from": 3.0, "valid_to": 3.0}, "valid_to"),
        ({"t": 1.0, "valid_to": 0.5}, "valid_to"),
        ({"valid_from": float("nan")}, "valid_from"),
        ({"value_text": " "}, "value_text"),
        ({"value_text": 7}, "value_text"),
        ({"flags": 3}, "flags"),
    ],
)
def test_bad_claim_is_refused_with_the_path_of_the_fault(bad: dict[str, Any], path: str) -> None:
    assert path in refused(**bad)


def test_refused_claims_do_not_affect_others_in_the_batch() -> None:
    again = GOOD | {"handle": None, "kind": "obs"}
    claims = [again, GOOD | {"handle": "obs_cccc", "title": SECRETS[2][1]}, again | {"kind": "nonsense"}]
    memory = admit(Memory.empty(), [GOOD]).memory
    after, verdicts = admit(memory, claims)
    assert verdicts["verdict"].to_list() == ["deduplicated", "refused", "refused"]
    assert after.cells.equals(memory.cells)


def test_all_faults_are_reported_at_once() -> None:
    assert {"title", "confidence", "kind", "edges[0].relation"} <= set(
        refused(handle=None, kind="x", title="", confidence=2, edges=[{"relation": "likes", "target": "obs_aaaa"}])
    )


def test_empty_huge_and_repeated_batches_are_admitted() -> None:
    memory, verdicts = admit(Memory.empty(), [])
    assert (memory.cells.height, verdicts.height) == (0, 0)
    memory, verdicts = admit(memory, [GOOD | {"body": "x" * 10_000_000}] * 3)
    assert verdicts["verdict"].to_list() == ["admitted", "deduplicated", "deduplicated"]
    unicode = GOOD | {"handle": None, "kind": "obs", "title": "泵坏了 🚰", "writer": "Ζωή"}
    assert admit(memory, [unicode]).verdicts["verdict"].to_list() == ["admitted"]


def test_cells_do_not_age_when_the_clock_goes_backwards() -> None:
    memory, _ = admit(Memory.empty(), [GOOD | {"t": 10.0, "stability": "ephemeral"}])
    memory = tick(tick(memory, 20.0), 5.0)
    assert memory.cells["currency"][0] == 1.0
    memory, verdicts = admit(memory, [GOOD | {"handle": "obs_bbbb", "title": "earlier", "t": 1.0}])
    assert verdicts["verdict"].to_list() == ["admitted"]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"writer": ["a"], "titel": ["x"]}),
        pl.DataFrame({"writer": ["a"], "title": ["x"], "confidence": ["high"]}),
        pl.DataFrame({"writer": [1], "title": ["x"]}),
        pl.DataFrame({"writer": ["a"], "title": ["x"], "edges": [[1]]}),
        pl.DataFrame({"writer": ["a"], "title": ["x"], "edges": [[{"to": "x"}]]}),
        pl.DataFrame({"writer": [object()], "title": ["x"]}),
    ],
)
def test_frame_with_wrong_columns_is_refused(frame: pl.DataFrame) -> None:
    with pytest.raises(DataError, match=r"column|field"):
        admit(Memory.empty(), frame)
    with pytest.raises(DataError, match="edges: unknown column"):
        connect(Memory.empty(), pl.DataFrame({"from": ["a"]}))


def test_supersession_is_never_circular() -> None:
    chain = [GOOD | {"handle": f"obs_000{i}", "title": f"{i}", "t": float(i)} for i in range(3)]
    for i in (1, 2):
        chain[i]["edges"] = [{"relation": "supersedes", "target": f"obs_000{i - 1}"}]
    memory, _ = admit(Memory.empty(), chain)
    memory, _ = connect(memory, [{"source": "obs_0000", "relation": "supersedes", "target": "obs_0002", "writer": "ann"}])
    assert memory.chain(memory.row("obs_0000")) == [0, 1, 2]
    heirs = memory.cells["successor"].to_list()
    assert heirs == [1, 2, None]


@pytest.mark.parametrize(("kind", "credential"), SECRETS, ids=[kind for kind, _ in SECRETS])
def test_credential_in_any_field_is_refused_and_not_stored(kind: str, credential: str) -> None:
    for field in ("title", "body", "writer", "object", "summary", "topics", "source_refs", "handle", "key"):
        value: Any = [credential] if field in ("topics", "source_refs") else f"see {credential} there"
        memory, verdicts = admit(Memory.empty(), [GOOD | {field: value}])
        assert memory.cells.is_empty()
        assert verdicts["verdict"].to_list() == ["refused"]
        issues = [issue for issue in verdicts["issues"][0].to_list() if issue["message"] == f"screen: possible {kind}"]
        assert issues[0]["path"].startswith(field)
        assert credential not in str(verdicts.to_dicts())
    edge = [{"relation": "supports", "target": credential}]
    assert credential not in str(admit(Memory.empty(), [GOOD | {"edges": edge}]).verdicts.to_dicts())


def test_credential_in_a_scenario_appears_in_no_output(tmp_path: Path) -> None:
    credential = "ghp_" + "Zq3" * 10
    claim = '{{at = "0d", writer = "{}", handle = "{}", title = "{}", confidence = 0.5}}'
    claims = claim.format("ann", "obs_a1a1", f"use {credential}"), claim.format("bob", "obs_b2b2", "fine")
    text = f'why = "a credential is not stored"\nclaim = [{", ".join(claims)}]\n[run]\ndays = 3\n'
    run = ms.run(parse(text))
    run.write(tmp_path)
    run.plot.save(tmp_path)
    assert run.events.filter(pl.col("kind") == "rejected")["detail"].to_list() == ["title: screen: possible GitHub token"]
    assert credential not in repr(run) + str(run.events.to_dicts())
    for path in tmp_path.iterdir():
        assert credential.encode() not in path.read_bytes(), path.name
    again = ms.run(parse(str(run.manifest["scenario"])))
    assert again.manifest["sha256"] == run.manifest["sha256"]


def test_redaction_removes_the_value_but_stays_recognisable() -> None:
    for kind, credential in SECRETS:
        assert holds_secret(redacted(f"a {credential} b")), kind
    assert redacted("nothing to see") == "nothing to see"
    assert not re.search("Zq3", redacted("key ghp_" + "Zq3" * 10))


def test_integer_columns_become_floats() -> None:
    memory, _ = admit(
        Memory.empty(), pl.DataFrame({"handle": ["obs_a1a1"], "writer": ["a"], "title": ["t"], "confidence": [1]})
    )
    assert memory.cells["claimed"].dtype == pl.Float64
    assert np.isfinite(tick(memory, 1.0).cells["effective"].to_numpy()).all()
