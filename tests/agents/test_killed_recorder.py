"""A killed recorder loses at most the messages still queued for its log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path

from malsim.agents.mcp_recorder import WAITING

CALLS = 1_500  # number of answered calls before the recorder is killed
SERVER = """
import json, sys
for line in sys.stdin:
    answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {"content": []}}
    sys.stdout.write(json.dumps(answer) + "\\n")
    sys.stdout.flush()
"""


def question(number: int) -> bytes:
    arguments = {"subject": "pump", "content": f"runs {number}"}
    message = {"id": number, "method": "tools/call", "params": {"name": "remember", "arguments": arguments}}
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def ask(pipe: int) -> None:
    with suppress(OSError):
        for number in count():
            os.write(pipe, question(number))


def test_killed_recorder_loses_only_queued_messages(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    server = [sys.executable, str(tmp_path / "server.py")]
    command = [sys.executable, "-m", "malsim", "agent", "record", "-o", str(tmp_path / "log.jsonl"), "--", *server]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as recorder:
        assert recorder.stdin
        assert recorder.stdout
        questions = threading.Thread(target=ask, args=(recorder.stdin.fileno(),))
        questions.start()
        answered = 0
        while answered < CALLS:
            assert recorder.stdout.readline()
            answered += 1
        recorder.kill()
        questions.join()
    logged = (tmp_path / "log.jsonl").read_bytes().count(b"\n")
    assert logged >= answered - WAITING
