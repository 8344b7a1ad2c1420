"""Bad command lines: a sentence with place, given and allowed, exit code 2, and nothing changed."""

from __future__ import annotations

import shlex
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.memory.store import Store, open_memory
from malsim.scenario.history import webhook
from malsim.scenario.history.webhook import Webhook

ROOT = Path(__file__).parents[1]
DERIVES = 'why = "x"\n[[derive.netlist.input]]\nsignal = "a"\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["import", str(ROOT / "scenarios" / "stores" / "atlas.json"), "-o", "s.sqlite"]) == 0
    (tmp_path / "derives.toml").write_text(DERIVES, encoding="utf-8")
    (tmp_path / "net.malnet").write_text("loadrt watch names=weak\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("hal net.malnet --tick=5", "a time with its unit"),
        ("run derives.toml", "derives.toml:1: derive"),
        ("look s.sqlite --limit=99999999999999999999", "limit"),
        ("store tick s.sqlite --webhook http://a..b/", "not an address"),
        ("store tick s.sqlite --now 1e300", "1e+11"),
    ],
)
def test_it_is_refused_in_a_sentence(words: str, said: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (place / "s.sqlite").read_bytes()
    assert main(shlex.split(words)) == 2
    assert said in (error := capsys.readouterr().err)
    assert "this is a bug" not in error
    assert (place / "s.sqlite").read_bytes() == before


def test_a_store_is_not_ticked_beyond_time(place: Path) -> None:
    with Store(place / "s.sqlite") as store, pytest.raises(UsageError):
        store.tick(1e300)
    assert open_memory(place / "s.sqlite").height > 0


def test_a_host_that_drips_its_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "WAIT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection, suppress(ConnectionError):  # the client gives up, which is the point
                for letter in b"HTTP/1.1 200 OK\r\nA: ":
                    connection.send(bytes([letter]))
                    time.sleep(0.2)

        host = threading.Thread(target=drip, daemon=True)
        host.start()
        assert "no answer within" in Webhook.of(f"http://127.0.0.1:{server.getsockname()[1]}/").post({})
        host.join()


def test_a_strangers_scenario_does_not_stop_a_session(tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "bad.toml").write_text("why =\n", encoding="utf-8")
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n", encoding="utf-8")
    pytest_here = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0"]
    done = subprocess.run(pytest_here, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed, 1 skipped" in done.stdout, done.stdout
    named = subprocess.run([*pytest_here, "scenarios/bad.toml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert named.returncode not in {0, 5}
