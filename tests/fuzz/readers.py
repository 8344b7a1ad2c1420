"""Readers of untrusted input for fuzzing: memory files, hooks, tool arguments, recorded messages and mappings."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic import ValidationError

from malsim.adapters.mapping import read_mapping
from malsim.agents.mcp_recorder import TrafficLog
from malsim.agents.server import memory_server
from malsim.agents.service import MemoryService
from malsim.agents.tool_calls import events_of
from malsim.base.errors import DataError, MalsimError
from malsim.cli import main
from malsim.importers.building.bring import bring
from malsim.netlist.hal.tokens import ini_variables
from tests.importers.samples import SAMPLES

__all__ = ["memory_files", "others"]

EVENT = {"session_id": "s", "prompt": "is the pump on?", "tool_name": "Edit", "tool_input": {"file_path": "a.py"}}
CALLS = (
    ("claim", {"title": "pump 3 runs", "confidence": 0.6, "topics": ["pump"], "edges": [{"relation": "supports", "target": "obs_a1a1"}]}),
    ("push", {"objective": "the pump", "budget_words": 100, "limit": 3}),
    ("correct", {"cell": "obs_a1a1", "title": "pump 3 hums", "confidence": 0.6}),
    ("expand", {"cell": "obs_a1a1"}), ("why", {"cell": "obs_a1a1"}), ("signals", {"names": ["stale"]}), ("forget", {"cell": "obs_a1a1"}),
)  # fmt: skip
RECORDED = (
    ("create_entities", {"entities": [{"name": "pump", "entityType": "x", "observations": ["runs"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "pump", "observations": ["runs"]}]}),
    ("remember", {"subject": "pump", "content": "runs", "confidence": 0.8, "agent_id": "ann"}),
)
MAPPING = b'[[write]]\ntool = "add"\narguments = { text = "{text}" }\n[[read]]\ntool = "get"\nmay_fail = true\n[environment]\nA = "{folder}"\n'


def memory_files(folder: Path) -> dict[str, tuple[list[bytes], Callable[[bytes, Path], object], bool]]:
    """Return, for each importable format, valid inputs, their reader, and whether the format is text."""
    formats = dict[str, tuple[list[bytes], Any, bool]]()
    for name, make in SAMPLES.items():
        (sample := folder / f"sample-{name}").mkdir()
        path = make(sample)
        file = path if path.is_file() else max(path.rglob("*.md"))
        is_text = file.read_bytes()[:6] != b"SQLite"

        def read(data: bytes, _: Path, *, file: Path = file, path: Path = path, name: str = name) -> object:
            file.write_bytes(data)
            return bring(path), bring(path, form=name)

        formats[f"{name} memory"] = ([file.read_bytes()], read, is_text)
    return formats


def others(folder: Path) -> dict[str, tuple[list[bytes], Callable[[bytes, Path], object], bool]]:
    """Return valid inputs and readers for tool calls, logs, hooks, mappings and INI files."""
    store = folder / "served.sqlite"
    server = memory_server(lambda: MemoryService(store, writer="ann", clock=lambda: 1.0))

    def tool(data: bytes, _: Path) -> None:
        name, arguments = _call_in(data)
        try:
            asyncio.run(server.call_tool(name, arguments))
        except Exception as error:  # noqa: BLE001  # checked by its type
            _typed(error)

    def recorded(data: bytes, _: Path) -> None:
        name, arguments = _call_in(data)
        events_of(name, arguments, "", ["pump"])
        log = TrafficLog(folder / "traffic.jsonl", "ann")
        params = {"name": name, "arguments": arguments}
        log.sent(json.dumps({"id": 1, "method": "tools/call", "params": params}).encode())
        log.sent(data)
        content = [{"type": "text", "text": data.decode("utf-8", "replace")}]
        log.answered(json.dumps({"id": 1, "result": {"content": content}}).encode())
        log.answered(data)

    def continued(data: bytes, _: Path) -> object:
        (folder / "old.jsonl").write_bytes(data)
        return TrafficLog(folder / "old.jsonl", "ann")

    def hook(data: bytes, _: Path) -> None:
        words = ["agent", "hook", "prompt", "--store", str(store)]
        stderr = io.StringIO()
        with patch("sys.stdin", io.TextIOWrapper(io.BytesIO(data))), redirect_stdout(io.StringIO()), redirect_stderr(stderr):
            main(words)
        assert "this is a bug" not in stderr.getvalue(), stderr.getvalue()

    def mapping(data: bytes, _: Path) -> object:
        (folder / "m.toml").write_bytes(data)
        return read_mapping(folder / "m.toml")

    line = {"t": 0.0, "event": "write", "item": "m1", "object": "pump", "value": "runs", "at": "2026-01-01T00:00:00+00:00"}
    return {
        "tool arguments": ([json.dumps(call, indent=1).encode() for call in CALLS], tool, True),
        "recorded call": ([json.dumps(call, indent=1).encode() for call in RECORDED], recorded, True),
        "log that is continued": ([json.dumps(line).encode() + b"\n"], continued, True),
        "hook": ([json.dumps(EVENT, indent=1).encode()], hook, True),
        "mapping": ([MAPPING], mapping, True),
        "ini": (
            [b"[JOINT_0]\nSCALE = 200\n# a comment\n[A]\nB=1\n"],
            lambda data, _: ini_variables(data.decode("utf-8", "replace")),
            True,
        ),
    }


def _call_in(data: bytes) -> tuple[str, dict[str, Any]]:
    try:
        name, arguments = json.loads(data)
    except (ValueError, TypeError, RecursionError):
        raise DataError("not a JSON list of a tool's name and arguments") from None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise DataError("not a JSON list of a tool's name and arguments")
    return name, arguments


def _typed(error: BaseException | None) -> None:
    """Raise the cause of a tool's error unless the cause is an expected error: a `MalsimError` or a validation error."""
    first = error
    while error is not None:
        if isinstance(error, (MalsimError, ValidationError)):
            return
        first, error = error, error.__cause__
    if first is not None and "Unknown tool" not in str(first):
        raise first
