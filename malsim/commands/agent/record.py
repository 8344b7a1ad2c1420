"""Record the messages between an agent and any MCP memory server; every message is passed on unchanged.

malsim agent record -o log.jsonl -- npx -y @modelcontextprotocol/server-memory     in place of the server's own command
malsim agent record -o log.jsonl --redact -- malsim agent serve memory.sqlite            hashes of texts only
malsim compare log.jsonl --laws records --confidence 0.7                           what a law believes in the end
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("server", nargs="+", metavar="COMMAND", help="the server's command, after --")
    add(
        "-o",
        "--output",
        type=Path,
        default=Path("memory_log.jsonl"),
        metavar="LOG",
        help="go on with this log (memory_log.jsonl)",
    )
    add("--writer", default="agent", metavar="NAME", help="who writes, where a call does not say (agent)")
    add("--redact", action="store_true", help="keep the hashes of texts only")


def main(args: argparse.Namespace) -> int:
    """Pass on and log until either side ends; the server's own exit code."""
    from malsim.agents.mcp_proxy import record
    from malsim.agents.traffic_log import TrafficLog
    from malsim.base.errors import UsageError

    if not shutil.which(args.server[0]):  # before a log is begun
        raise UsageError(
            "cannot start", where="malsim agent record", given=args.server[0], allowed="-- and a server's command"
        )
    try:
        log = TrafficLog(args.output, args.writer, hashes=args.redact)
        return record(args.server, log, client=sys.stdin.buffer, answers=sys.stdout.buffer)
    except OSError as problem:
        raise UsageError(
            "cannot start", where="malsim agent record", given=str(problem), allowed="-- and a server's command"
        ) from None
