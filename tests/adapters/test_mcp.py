"""Adapter to MCP servers: working folder, child processes, tool mappings and errors."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from malsim.adapters.contract import Claim, Query
from malsim.adapters.mapping import read_mapping, shipped_mappings
from malsim.adapters.mcp import XDG, McpServer
from malsim.base.errors import AdapterError
from malsim.cli import main
from tests.adapters.test_sandbox import ended

SERVER = Path(__file__).with_name("small_mcp_server.py")
SCENARIO = Path(__file__).parents[2] / "scenarios/a_then_b_then_a.toml"
MAPPING = """
[[write]]
tool = "remember"
arguments = { text = "{object} is {value}" }
[[read]]
tool = "recall"
arguments = { text = "{object}" }
"""


def shows(server: McpServer) -> list[str]:
    """Write the values A, B and A to the server, then return the texts that a peek returns."""
    for day, value in enumerate("ABA"):
        server.write([Claim(float(day), "ann", "o", value, f"o is {value}")], float(day))
    return [item["text"] for item in server.peek(Query("o", "what is o?"), 3.0, 10)]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_server_writes_only_into_its_folder() -> None:
    server = McpServer(f"{sys.executable} {SERVER} settles")
    assert shows(server) == ["o is A"]
    lines = Path(server.folder, "environment").read_text(encoding="utf-8").splitlines()
    environment = dict(line.split("=", 1) for line in lines)
    assert set(environment.values()) - {environment["child"]} == {os.path.realpath(server.folder)}
    assert {"HOME", "cwd", *(f"XDG_{name}" for name in XDG)} < set(environment)
    server.close()
    assert not Path(server.folder).exists()
    assert ended(environment["child"])


def test_user_mapping_maps_claim_fields_to_tool_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MAPPING)
    command = ["run", str(SCENARIO), "--no-plots", "-o", str(tmp_path / "out"), "--set", "run.days=6"]
    command += ["--memory", f"mcp:{sys.executable} {SERVER}", "--mapping", str(path)]
    assert main(command) == 0
    for text, problem in (
        ('[[write]]\ntool = "remember"\n', "the step [[read]] is missing"),
        (MAPPING.replace("{value}", "{subject}"), "no such placeholder"),
        (MAPPING.replace("tool =", "tol ="), "allowed: tool, arguments, may_fail"),
        (MAPPING.replace('"recall"', '"look_up"'), "allowed: remember, look_up"),
    ):
        path.write_text(text)
        capsys.readouterr()
        assert main(command) == 2
        assert problem in capsys.readouterr().err


def test_error_message_includes_the_servers_stderr() -> None:
    with pytest.raises(RuntimeError, match=r"the server ended \(exit code 1\); its stderr: no key was given"):
        McpServer(f"{sys.executable} -c 'import sys; sys.exit(\"no key was given\")'")
    with pytest.raises(AdapterError, match="no such command"):
        McpServer("no-such-command-anywhere")


def test_shipped_mappings_can_be_read() -> None:
    assert {mapping.name for mapping in shipped_mappings()} >= {"keeper", "libsql", "reference"}
    with pytest.raises(AdapterError, match="not a valid mapping"):
        read_mapping(Path("nowhere.toml"))


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("mcp-server-memory", ["o is A", "o is B"]),  # npm @modelcontextprotocol/server-memory
        ("mcp-knowledge-graph", ["o is A", "o is B"]),  # npm @itseasy21/mcp-knowledge-graph, uses the reference mapping
        ("mcp-memory-libsql", ["o is A"]),
        ("mcp-server-memory-bank", ["o is A"]),  # npm @allpepper/memory-bank-mcp
        ("memory-bank-mcp", ["o is A"]),  # npm @movibe/memory-bank-mcp
        ("mcp-memory-keeper", ["o is A"]),
        ("basic-memory mcp", ["---", "title: o", "type: note", "permalink: main/facts/o", "o is A"]),  # PyPI basic-memory
    ],
)
def test_published_server_runs(command: str, texts: list[str]) -> None:
    if not shutil.which(command.partition(" ")[0]):
        pytest.skip(f"needs the npm or PyPI package of {command}")
    server = McpServer(command)
    try:
        assert shows(server) == texts
    finally:
        server.close()
