"""Minimal MCP memory server on stdio with two tools, or with no tools if started with the argument `deaf`.

With the argument `settles`, the server starts a child process and writes its environment to a file in HOME.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

NOTES: list[str] = []
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
TOOLS = [{"name": "remember", "inputSchema": TEXT}, {"name": "recall", "inputSchema": TEXT}]


def result_of(name: str, text: str) -> str:
    if name == "remember":
        about = text.split(" is ", maxsplit=1)[0]
        NOTES[:] = [note for note in NOTES if not note.startswith(about)] + [text]
        return "kept"
    return "\n".join(note for note in NOTES if note.split(" is ")[0] in text)


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        server = {"name": "small", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [] if "deaf" in sys.argv else TOOLS}
    if "explode" in params["arguments"]["text"]:
        return {"isError": True, "content": [{"type": "text", "text": "no such word"}]}
    return {"content": [{"type": "text", "text": result_of(params["name"], params["arguments"]["text"])}]}


def settle() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    environment = {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
    environment |= {"HOME": os.environ["HOME"], "cwd": str(Path.cwd()), "child": str(child.pid)}
    lines = [f"{name}={value}" for name, value in environment.items()]
    Path.home().joinpath("environment").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    if "settles" in sys.argv:
        settle()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message["method"], message.get("params", {}))}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()
