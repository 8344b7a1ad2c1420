"""Record the messages between an agent and an MCP memory server; messages are forwarded unchanged.

malsim agent record -o log.jsonl -- npx -y @modelcontextprotocol/server-memory     use it in place of the server's command
malsim agent record -o log.jsonl --redact -- malsim agent serve memory.sqlite            record only hashes of texts
malsim compare log.jsonl --laws records --confidence 0.7                           final beliefs of a law
"""

from __future__ import annotations

import argparse
import shutil
import sys
from functools import partial
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("server", nargs="+", metavar="COMMAND", help="command of the server, after --")
    log = Path("memory_log.jsonl")
    add("-o", "--output", type=Path, default=log, metavar="LOG", help=f"log to append to ({log})")
    add("--writer", default="agent", metavar="NAME", help="writer of calls that do not name a writer (agent)")
    add("--redact", action="store_true", help="record only the hashes of texts")


def main(args: argparse.Namespace) -> int:
    """Forward and log messages until the client or the server exits. Return the server's exit code."""
    from malsim.agents.mcp_recorder import TrafficLog, record
    from malsim.base.errors import UsageError

    error = partial(UsageError, "the server cannot be started", hint="check the command after --")
    if not shutil.which(args.server[0]):  # fail before the log is created
        raise error(given=args.server[0])
    try:
        log = TrafficLog(args.output, args.writer, hashes=args.redact)
        return record(args.server, log, client=sys.stdin.buffer, answers=sys.stdout.buffer)
    except OSError as problem:
        raise error(given=str(problem)) from None
