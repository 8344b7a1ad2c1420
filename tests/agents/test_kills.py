"""A killed server loses no acknowledged claim, and invalid messages do not stop a server."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from malsim.memory.store import Store, open_memory

pytest.importorskip("mcp", reason="the extra agents is not installed")

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}


class RawClient:
    """MCP client that exchanges raw lines with a server process."""

    def __init__(self, store: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        words = [sys.executable, "-m", "malsim", "agent", "serve", str(store), "--writer", "ann"]
        self.server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._number = 0
        self.request("initialize", **HELLO)
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def say(self, message: Any) -> None:
        assert self.server.stdin
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.server.stdin.write(line + b"\n")
        self.server.stdin.flush()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the response, or {} if the server has ended."""
        assert self.server.stdout
        self._number += 1
        with contextlib.suppress(BrokenPipeError):
            self.say({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        for line in self.server.stdout:
            with contextlib.suppress(ValueError):
                answer: dict[str, Any] = json.loads(line)
                if answer.get("id") == self._number:
                    return answer
        return {}

    def claim(self, title: str) -> str | None:
        """Post a claim and return the server's answer, or None if the server has ended."""
        answer = self.request("tools/call", name="claim", arguments={"title": title, "confidence": 0.5})
        return str(answer["result"]["content"][0]["text"]) if answer else None

    def close(self) -> None:
        for pipe in (self.server.stdin, self.server.stdout):
            assert pipe
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self.server.wait()


def killed_in_a_call(store: Path, delay: float, round_: int) -> list[str]:
    """Kill a server `delay` seconds after its first answer, and return the claims that it acknowledged."""
    client, done = RawClient(store), list[str]()
    timer = threading.Timer(delay, client.server.kill)
    for number in range(10_000):
        verdict = client.claim(title := f"round {round_}, claim {number}")
        if verdict is None:
            break
        assert verdict.startswith("admitted")
        done.append(title)
        if number == 0:
            timer.start()
    timer.join()
    client.close()
    return done


@pytest.mark.parametrize("kills", [2, pytest.param(40, marks=pytest.mark.nightly)])
def test_killed_server_loses_no_acknowledged_claim(kills: int, tmp_path: Path) -> None:
    store = tmp_path / "m.sqlite"
    delay, done = random.Random(5), list[str]()  # noqa: S311  # the same moments each time
    for number in range(kills):
        done += killed_in_a_call(store, delay.uniform(0.0, 0.15), number)
        titles = open_memory(store).cells.filter(pl.col("writer") != "_init")["title"].to_list()
        assert set(done) <= set(titles)
        assert len(titles) <= len(done) + number + 1  # each kill may leave one claim that was stored but not acknowledged
    with Store(store) as again:
        assert again.tick(again.day or 0.0).height >= len(done) >= kills


def test_invalid_messages_do_not_stop_the_server(tmp_path: Path) -> None:
    client = RawClient(tmp_path / "m.sqlite")
    for message in (b"", b"{", b"\xff\xfe", b"[" * 5_000, b'{"jsonrpc": "2.0", "id": {}, "method": 3}', b'"text"'):
        client.say(message)
    answer = client.request("no/such/method")
    assert "error" in answer
    verdict = client.claim("it lives")
    client.close()
    assert str(verdict).startswith("admitted")
