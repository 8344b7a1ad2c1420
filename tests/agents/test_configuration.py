"""`malsim new . --template claude-code` and `codex` add their settings to existing files."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from malsim.cli import main

EVENTS = {"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"}


def write(folder: Path, template: str, *options: str) -> int:
    return main(["new", str(folder), "--template", template, "--store", "m.sqlite", "--writer", "ann", *options])


def test_claude_code_template_adds_a_server_and_four_hooks(tmp_path: Path) -> None:
    assert write(tmp_path, "claude-code") == 0
    servers = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]
    assert servers["memory"]["args"] == ["agent", "serve", "m.sqlite", "--writer", "ann"]
    hooks = json.loads((tmp_path / ".claude" / "settings.json").read_text())["hooks"]
    assert set(hooks) == EVENTS
    commands = [hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]]
    assert commands[1] == "malsim agent hook prompt --store m.sqlite --writer ann"
    assert hooks["PreToolUse"][0]["matcher"].startswith("Bash")


def test_codex_template_adds_a_server_and_four_hooks(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text('model = "one"\n', encoding="utf-8")
    assert write(tmp_path, "codex") == 0
    config = tomllib.loads((tmp_path / ".codex" / "config.toml").read_text())
    assert config["model"] == "one"
    assert config["mcp_servers"]["memory"]["command"] == "malsim"
    assert set(json.loads((tmp_path / ".codex" / "hooks.json").read_text())["hooks"]) == EVENTS


def test_existing_configuration_is_preserved(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "one", "hooks": {"Stop": [{"hooks": []}]}}', encoding="utf-8")
    assert write(tmp_path, "claude-code") == 0
    table = json.loads(settings.read_text())
    assert table["model"] == "one"
    assert len(table["hooks"]["Stop"]) == 2


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": {"memory": {}}}'])
def test_invalid_configuration_file_is_left_unchanged(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".mcp.json").write_text(text, encoding="utf-8")
    assert write(tmp_path, "claude-code") == 2
    assert ".mcp.json" in capsys.readouterr().err
    assert (tmp_path / ".mcp.json").read_text() == text
    assert not (tmp_path / ".claude").exists()


@pytest.mark.parametrize("template", ["claude-code", "codex"])
def test_dry_run_writes_nothing_and_prints_instructions(
    template: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write(tmp_path, template, "--dry-run") == 0
    assert list(tmp_path.iterdir()) == []
    shown = capsys.readouterr().out
    assert "malsim agent hook stop" in shown
    assert "Wire your edges" in shown
