"""A watcher tells what fails and what trips, once, with margin and witness; it changes nothing and repeats no secret."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.memory.store import Store
from malsim.scenario.file.scenario_file import parse as scenario_of
from malsim.scenario.history.follow import Follower
from malsim.scenario.history.judge_history import HistorySource
from malsim.scenario.history.prospects import most
from malsim.scenario.history.webhook import Webhook
from malsim.scenario.properties import Trace
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKS = """
why = "The pump's claim stands."
[[check]]
name = "believed"
property = "always (eff(obs_aaaa) >= 0.5)"
[[check]]
name = "answered within two days"
property = "always ((eff(obs_aaaa) < 0.5) implies eventually[0d:2d] (eff(obs_aaaa) >= 0.5))"
[netlist]
text = '''
loadrt watch names=weak
loadrt latch names=alarm
net low weak.in < obs_aaaa-scores-eff
net is-weak weak.below > alarm.set
net tripped alarm.out
setp weak.level 0.5
addf weak tick
addf alarm tick
'''
"""
ROOT = Path(__file__).parents[3]
WRITER = """
import sys, time
from malsim.memory.store import Store
common = {"confidence": 0.9, "verification": "external"}
with Store(sys.argv[1]) as file:
    file.admit([{"handle": "obs_aaaa", "title": "it runs", "writer": "ann", "t": 0.0, **common}])
    file.tick(1.0)
    print("begun", flush=True)
    sys.stdin.readline()
    edges = [{"relation": "contradicts", "target": "obs_aaaa"}]
    file.admit([{"handle": "obs_bbbb", "title": "no", "writer": "bob", "t": 1.5, "edges": edges, **common}])
    for day in range(2, 7):
        file.tick(float(day))
    print("done", flush=True)
    sys.stdin.readline()
"""


def claim(name: str, t: float, **more: Any) -> dict[str, Any]:
    return {
        "handle": f"obs_{name}",
        "writer": name,
        "t": t,
        "title": name,
        "confidence": 0.9,
        "verification": "external",
        **more,
    }


@pytest.fixture
def hook() -> Iterator[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
    """A webhook on loopback: its address, what it was told, and how it answers."""
    told: list[dict[str, Any]] = []
    how: dict[str, Any] = {"status": 204}

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if how["status"] == 204:
                told.append(body | {"path": self.path, "authorization": self.headers["Authorization"]})
            self.send_response(how["status"])
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}", told, how
    server.shutdown()
    server.server_close()


def test_each_is_told_once_and_again_when_it_has_passed(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    text = 'why = "w"\n[[check]]\nname = "low"\nmetric = "last"\nof = "eff(obs_aaaa)"\nwithin = [0.5, 1.0]\n'
    both = Follower(scenario_of(text), HistorySource(path)), Follower(scenario_of(CHECKS), HistorySource(path))
    with Store(path) as file:
        file.admit([claim("aaaa", 0.0)])
        file.tick(1.0)
        assert [follower.look() for follower in both] == [[], []]
        file.admit([claim("bbbb", 1.5, edges=[{"relation": "contradicts", "target": "obs_aaaa"}])])
        file.tick(2.0)
        assert [(one.name, one.status, one.kind) for one in both[0].look()] == [("low", "fail", "metric")]
        told = [(one.kind, one.name, one.status, one.t) for one in both[1].look()]
        assert told == [("tripwire", "tripped", "tripped", 2.0), ("property", "believed", "fail", 2.0)]
        file.tick(3.0)
        assert [one for follower in both for one in follower.look()] == []  # it may still be answered
        file.tick(5.0)
        late = both[1].look()
        assert [(one.name, one.status) for one in late] == [("answered within two days", "fail")]
        assert late[0].witness is not None
        assert late[0].margin == pytest.approx(-0.0298, abs=1e-3)
        file.admit([claim("cccc", 5.5, edges=[{"relation": "supersedes", "target": "obs_bbbb"}])])
        file.tick(6.0)
        assert [(one.name, one.status) for one in both[0].look()] == [("low", "passes")]


def test_a_store_written_by_one_process_is_watched_by_another(
    tmp_path: Path, hook: tuple[str, list[dict[str, Any]], dict[str, Any]]
) -> None:
    path, checks, (host, told, _) = tmp_path / "memory.sqlite", tmp_path / "checks.toml", hook
    checks.write_text(CHECKS, encoding="utf-8")
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, **pipes)
    assert writer.stdin
    assert writer.stdout
    assert writer.stdout.readline() == "begun\n"
    command = [
        "watch",
        str(path),
        "--checks",
        str(checks),
        "--every",
        "50ms",
        "--webhook",
        f"http://ann:pw@{host}/T0/secret",
    ]
    watcher = subprocess.Popen([sys.executable, "-m", "malsim", *command], **pipes)
    late = threading.Timer(100.0, watcher.kill)  # nobody waits for a line for ever
    late.start()
    time.sleep(1.0)
    writer.stdin.write("\n")
    writer.stdin.flush()
    assert writer.stdout.readline() == "done\n"  # nobody kept it from writing
    assert watcher.stdout
    lines = [watcher.stdout.readline() for _ in range(3)]
    while len(told) < len(lines) and watcher.poll() is None:
        time.sleep(0.05)
    late.cancel()
    watcher.send_signal(signal.SIGINT)
    out, said = watcher.communicate(timeout=60)
    assert watcher.returncode == 1
    writer.communicate("\n", timeout=60)
    assert writer.returncode == 0
    assert "fail: believed: replication 0, day 2: expected eff(obs_aaaa) >= 0.5, got" in "".join(lines)
    assert [(one["name"], one["kind"], one["status"]) for one in told] == [
        ("tripped", "tripwire", "tripped"),
        ("believed", "property", "fail"),
        ("answered within two days", "property", "fail"),
    ]
    assert told[1]["margin"] < 0
    assert told[1]["witness"]["reads"] == ["obs_aaaa-scores-eff"]
    assert told[1]["path"] == "/T0/secret"
    assert told[1]["authorization"] == "Basic YW5uOnB3"
    assert not any(word in "".join(lines) + out + said for word in ("secret", "pw@", "ann:"))


def test_what_could_not_be_posted_waits_and_no_secret_is_told(
    tmp_path: Path, hook: tuple[str, list[dict[str, Any]], dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, checks, (host, told, how) = tmp_path / "memory.sqlite", tmp_path / "checks.toml", hook
    checks.write_text(CHECKS.replace("0.5", "0.95"), encoding="utf-8")
    with Store(path) as file:
        file.admit([claim("aaaa", 0.0)])
        file.tick(1.0)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    asked = ["watch", str(path), "--checks", str(checks), "--once", "--webhook"]
    how["status"] = 503
    assert main([*asked, f"http://ann:hunter2@{host}/T0/topsecret?token=abc"]) == 1
    captured = capsys.readouterr()
    assert f"http://{host}/…: not posted, 2 wait for the next look: it answered 503" in captured.err
    assert main([*asked, "http://127.0.0.1:9/topsecret"]) == 1
    assert main([*asked, "ftp://ann:hunter2@host/topsecret"]) == 2
    assert main([*asked, "http://ann:hunter2@host:topsecret/"]) == 2
    every = captured.out + captured.err + "".join(capsys.readouterr())
    assert not any(word in every for word in ("topsecret", "hunter2", "abc"))
    assert told == []
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_a_log_that_a_killed_writer_left_is_not_played_in(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert writer.stdout
    assert writer.stdout.readline() == "begun\n"
    os.kill(writer.pid, signal.SIGKILL)
    writer.communicate()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
    assert f"{path.name}-wal" in before
    assert main(["watch", str(path), "--once"]) == 0
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")} == before


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([], "what is to be watched?"),
        (["absent.sqlite", "--once"], "no such store"),
        (["checks.toml", "--once"], "no memory that is known here"),
        (["memory.sqlite", "--once", "--every", "soon"], "--every"),
        (["memory.sqlite", "--once", "--checks", "typo.toml"], "skipped: a: this handle's tag is not lowercase hex"),
    ],
)
def test_what_cannot_be_watched_is_said(
    asked: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("memory.sqlite") as file:
        file.admit([claim("aaaa", 0.0)])
    Path("checks.toml").write_text(CHECKS, encoding="utf-8")
    typo = 'why = "w"\n[[check]]\nname = "a"\nproperty = "always (eff(obs_typo) > 0)"\n'
    Path("typo.toml").write_text(typo, encoding="utf-8")
    assert main(["watch", *asked]) == 2
    assert said in capsys.readouterr().err


def test_an_address_is_shown_without_what_is_secret() -> None:
    assert Webhook.of("http://[::1]:80/").redacted == "http://[::1]:80"
    with pytest.raises(UsageError):
        Webhook.of("http://host\r\nX: y/")


FORMULAS = st.sampled_from(
    [
        "always x >= 0.5", "eventually x >= 0.5", "always[0d:3d] x >= 0.5", "eventually[1d:4d] (x >= 0.5)", "x >= 0.5",
        "always ((x < 0.3) implies eventually[0d:2d] (x >= 0.5))", "not (eventually x >= 0.9)", "not always[0d:5d] x >= 0.1",
        "(x >= 0.2) until[0d:4d] (x >= 0.8)", "always (rise(x >= 0.5) implies always[0:2] (x >= 0.4))", "once x >= 0.5",
        "always (prev(x) <= x) or eventually[2d:6d] not (x >= 0.2)", "historically[0d:2d] x >= 0.2", "always fall(x >= 0.5)",
    ]
)  # fmt: skip
VALUES = st.lists(st.integers(0, 10).map(lambda n: n / 10), min_size=2, max_size=9)


@settings(max_examples=150, deadline=None)
@given(text=FORMULAS, values=VALUES, known=st.integers(1, 8))
def test_the_margin_never_comes_to_more_than_was_hoped(text: str, values: list[float], known: int) -> None:
    known = min(known, len(values) - 1)
    column, formula = np.array(values)[:, None], parse(text)
    sofar = Trace.of_arrays(range(1, known + 1), {"x": column[:known]})
    whole = Trace.of_arrays(range(1, len(values) + 1), {"x": column})
    hope, came = most(formula, sofar)[0], Margins(whole).at_start(formula)[0]
    assert np.isnan(hope) or np.isnan(came) or came <= hope
