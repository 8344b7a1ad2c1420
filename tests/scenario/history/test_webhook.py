"""Tests that a tick posts alarms to a webhook and never prints the secrets in the webhook's address."""

from __future__ import annotations

import http.server
import json
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.memory.store import Store
from malsim.scenario.history import webhook
from malsim.scenario.history.webhook import Webhook

if TYPE_CHECKING:
    from collections.abc import Iterator

NET = """
loadrt watch names=weak
loadrt latch names=alarm
net low weak.in < obs_aaaa-scores-eff
net is-weak weak.below > alarm.set
net tripped alarm.out
setp weak.level 0.5
addf weak tick
addf alarm tick
"""


class Hook:
    """Local HTTP server that records the messages posted to it and replies with `status`."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.status = 204
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                hook.received.append(body | {"path": self.path, "authorization": self.headers["Authorization"]})
                self.send_response(hook.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    thread = threading.Thread(target=hook.server.serve_forever, daemon=True)
    thread.start()
    yield hook
    hook.server.shutdown()
    hook.server.server_close()
    thread.join()


@pytest.fixture
def disputed(tmp_path: Path) -> str:
    """Return the path of a store whose next tick trips an alarm."""
    path, net = tmp_path / "memory.sqlite", tmp_path / "alarm.malnet"
    common = {"confidence": 0.9, "verification": "external", "t": 0.0}
    with Store(path) as store:
        store.admit([{"handle": "obs_aaaa", "title": "it runs", "writer": "ann", **common}])
    net.write_text(NET, encoding="utf-8")
    assert main(["netlist", "load", str(net), "-o", str(path)]) == 0
    with Store(path) as store:
        common |= {"edges": [{"relation": "contradicts", "target": "obs_aaaa"}]}
        store.admit([{"handle": f"obs_bbb{n}", "title": f"no {n}", "writer": f"w{n}", **common} for n in "123"])
    return str(path)


def test_alarm_is_posted_once(disputed: str, hook: Hook, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["store", "tick", disputed, "--webhook", f"http://ann:pw@{hook.host}/T0/secret?token=abc"]
    assert main(command) == 0
    (message,) = hook.received
    assert (message["kind"], message["subject"], message["store"]) == ("tripped", "tripped", "memory.sqlite")
    assert hook.received[0]["path"] == "/T0/secret?token=abc"
    assert hook.received[0]["authorization"] == "Basic YW5uOnB3"
    assert main(command) == 0
    assert len(hook.received) == 1
    printed = "".join(capsys.readouterr())
    assert not any(word in printed for word in ("secret", "pw@", "abc"))


def test_failed_post_is_reported_without_the_secret(disputed: str, hook: Hook, capsys: pytest.CaptureFixture[str]) -> None:
    hook.status = 503
    assert main(["store", "tick", disputed, "--webhook", f"http://ann:hunter2@{hook.host}/topsecret"]) == 2
    captured = capsys.readouterr()
    assert f"http://{hook.host}/…: the alarm was not posted: the server answered 503" in captured.err
    assert "tripped tripped" in captured.out
    assert not any(word in captured.out + captured.err for word in ("topsecret", "hunter2"))


@pytest.mark.parametrize(
    "url", ["ftp://ann:hunter2@host/x", "http://ann:hunter2@host:port/", "http://host\r\nX: y/", "http://a..b/"]
)
def test_invalid_webhook_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError) as problem:
        Webhook.of(url)
    assert "hunter2" not in str(problem.value)


def test_ipv6_host_is_shown_with_its_port() -> None:
    assert Webhook.of("http://[::1]:80/").redacted == "http://[::1]:80"


def test_slow_response_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "WAIT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection, suppress(ConnectionError):  # the client disconnects before the slow answer ends
                for letter in b"HTTP/1.1 200 OK\r\nA: ":
                    connection.send(bytes([letter]))
                    time.sleep(0.2)

        host = threading.Thread(target=drip, daemon=True)
        host.start()
        assert "no answer within" in Webhook.of(f"http://127.0.0.1:{server.getsockname()[1]}/").post({})
        host.join()
