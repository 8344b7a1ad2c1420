"""MCP server of a store, with tools for reads and writes, the ten initial cells as resources, and an introductory prompt."""

from __future__ import annotations

import asyncio
import hmac
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.resources import FunctionResource
from pydantic import ValidationError

from malsim.agents.service import MemoryService, brief, verdict_text
from malsim.base.errors import MalsimError
from malsim.memory.push.ten_cells import ten_cells
from malsim.parsers import program_version

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

INSTRUCTIONS = (
    "A memory that several writers share. Call push with what you are about to do, expand every cell marked ^ before you "
    "rely on it, and claim what you learned, with the confidence you would bet on it. The gate may refuse or correct a "
    "claim; its verdict says why."
)


class ServiceThread:
    """Only thread that uses the store. Calls from all agents wait in its queue; a failed call does not affect the next."""

    def __init__(self, open_service: Callable[[], MemoryService]) -> None:
        self._open_service = open_service
        self._service: MemoryService | None = None
        self._pool = ThreadPoolExecutor(1, "service")

    async def ask(self, call: Callable[[MemoryService], Any]) -> Any:
        """Return the result of a call to the service, or raise a short `ToolError` if the service refuses the call."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, call)
        except MalsimError as error:
            raise ToolError(brief(str(error))) from error

    def _run(self, call: Callable[[MemoryService], Any]) -> Any:
        if self._service is None:  # opened on this thread, because SQLite allows no other thread to use it
            self._service = self._open_service()
        return call(self._service)

    def close(self) -> None:
        if self._service is not None:
            self._pool.submit(self._service.close)
        self._pool.shutdown()


class BriefServer(MCPServer[None]):
    """MCP server whose error messages have at most 300 characters."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool. An error about arguments names the first invalid one and says how many more are invalid."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            text, cause = str(error), error.__cause__
            if isinstance(cause, ValidationError):
                first = cause.errors(include_url=False, include_input=False)[0]
                more = f", and {cause.error_count() - 1} more" if cause.error_count() > 1 else ""
                text = f"{name}: {'.'.join(map(str, first['loc']))}: {first['msg']}{more}; see the tool's arguments"
            raise type(error)(brief(text)) from cause


def memory_server(
    open_service: Callable[[], MemoryService], *, tick_seconds: float | None = None, inputs: bool = False
) -> MCPServer[None]:
    """Return a server for one store. `open_service` is called once, on the thread that makes all calls.

    `tick_seconds` is the time between two ticks (None: hooks tick the store). With `inputs`, the client may set the inputs
    of the store's wires.
    """
    thread = ServiceThread(open_service)

    @asynccontextmanager
    async def lifespan(_: MCPServer[None]) -> AsyncIterator[None]:
        ticking = asyncio.create_task(_tick_forever(thread, tick_seconds)) if tick_seconds else None
        try:
            yield
        finally:
            if ticking:
                ticking.cancel()

    server = BriefServer(
        "malsim", version=program_version(), instructions=INSTRUCTIONS, lifespan=lifespan, log_level="WARNING"
    )
    _add_reads(server, thread)
    _add_writes(server, thread)
    if inputs:

        @server.tool(structured_output=False)
        async def set_input(name: str, value: float | str) -> str:
            """Set an input of the wires, such as `reviewer.ack` to 1, from the next tick on. Your name is recorded."""
            return str(await thread.ask(lambda service: service.set_input(name, value)))

    _add_texts(server, thread)
    return server


async def _tick_forever(thread: ServiceThread, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        await thread.ask(MemoryService.tick)


def _add_reads(server: MCPServer[None], thread: ServiceThread) -> None:
    @server.tool(structured_output=False)
    async def push(objective: str, budget_words: int = 900, limit: int = 10) -> str:
        """Return the cells relevant to an objective, best first, with conflicts. You must open the cells marked ^."""
        pushed = await thread.ask(lambda service: service.pushed(objective, budget=budget_words, limit=limit))
        return str(pushed) or "no relevant cell"

    @server.tool(structured_output=False)
    async def expand(cell: str) -> str:
        """Open a cell: its text, neighbours and versions, and its scores term by term. Do this for every line marked ^."""
        return str(await thread.ask(lambda service: service.expand(cell)))

    @server.tool(structured_output=False)
    async def why(cell: str) -> str:
        """Explain the current score of a cell, term by term."""
        return str(await thread.ask(lambda service: service.why(cell)))

    @server.tool(structured_output=False)
    async def signals(names: list[str] | None = None) -> str:
        """Read the standing signals, such as contradiction load or stale dependencies: all, or only those in `names`."""
        return str(await thread.ask(lambda service: service.signals(names or ())))

    @server.tool(structured_output=False)
    async def wires() -> str:
        """List the signals and inputs of the wires in this memory, with their values and the time of their last change."""
        return str(await thread.ask(MemoryService.wires))

    @server.tool(structured_output=False)
    async def netlist() -> str:
        """Return this memory as a netlist that can be loaded again, with cells as pins and edges as nets."""
        return str(await thread.ask(MemoryService.netlist))


def _add_writes(server: MCPServer[None], thread: ServiceThread) -> None:
    @server.tool(structured_output=False)
    async def claim(  # noqa: PLR0913, PLR0917  # the fields of a claim
        title: str, confidence: float, body: str = "", kind: str = "obs", edges: list[dict[str, Any]] | None = None,
        topics: list[str] | None = None, source_refs: list[str] | None = None, object: str = "",  # noqa: A002
        value: float | str | None = None, verification: str = "", stability: str = "", if_seen: int | None = None,
    ) -> str:  # fmt: skip
        """Make a claim: a title, the confidence you would bet on it (0 to 1), and edges to other cells.

        An edge is, for example, {"relation": "contradicts", "target": "obs_a1b2"}; relations: supports, contradicts,
        depends_on, derived_from, supersedes. Kinds: dec obs bel tsk obj rsk ref ver hyp prg. `object` and `value` (a number
        or a text): the subject, and what you claim about it. `verification`: checked or tested, if you did so. `stability`:
        stable, volatile or ephemeral. `if_seen`: the version, as push and expand print it, of the superseded cell or of the
        object; if a newer version exists, nothing is written. Returns the gate's verdict and its reasons.
        """
        fields: dict[str, Any] = {
            "kind": kind, "body": body, "edges": edges or [], "topics": topics or [], "source_refs": source_refs or [],
            "object": object, "value": value, "verification": verification, "stability": stability, "if_seen": if_seen,
        }  # fmt: skip
        return verdict_text(await thread.ask(lambda service: service.claim(title, confidence, **fields)))

    @server.tool(structured_output=False)
    async def correct(
        cell: str, title: str = "", confidence: float | None = None, body: str = "", value: float | str | None = None,
        if_seen: int | None = None,
    ) -> str:  # fmt: skip
        """Correct a cell: `title` is the right statement, and `value` the right value of the cell's object.

        `if_seen` is the version that you read, as push and expand print it; if a newer version exists, nothing is written.
        A person may omit `title` if nobody knows what is right. Returns the verdict and all retracted cells.
        """
        given = (("body", body), ("value", value), ("if_seen", if_seen))
        fields: dict[str, Any] = {name: field for name, field in given if field not in ("", None)}
        return verdict_text(await thread.ask(lambda service: service.correct(cell, title, confidence, **fields)))

    @server.tool(structured_output=False)
    async def forget(cell: str) -> str:
        """Erase a cell's content and everything derived from it. Use this when somebody asks you to forget something."""
        return str(await thread.ask(lambda service: service.forget(cell)))

    @server.tool(structured_output=False)
    async def wire(name: str, program: str, confidence: float = 0.7) -> str:
        """Add a standing op, such as `addf watch tick [keys: dec_a3ee]`, as a claim of kind prg."""
        return verdict_text(await thread.ask(lambda service: service.wire(name, program, confidence)))


def _add_texts(server: MCPServer[None], thread: ServiceThread) -> None:
    for cell in ten_cells().iter_rows(named=True):
        handle, title = str(cell["handle"]), str(cell["title"])
        uri = f"malsim://cells/{handle}"
        server.add_resource(FunctionResource(uri=uri, name=handle, title=title, fn=_opened(thread, handle)))

    @server.prompt()
    async def orient() -> str:
        """Explain how to read this memory and what is expected of writers, and show the cells with the highest rank."""
        return str(await thread.ask(MemoryService.orient))


def _opened(thread: ServiceThread, handle: str) -> Callable[[], Any]:
    async def opened() -> str:
        try:
            return str(await thread.ask(lambda service: service.expand(handle)))
        except ToolError as error:
            raise ResourceError(str(error)) from error

    return opened


def with_token(app: ASGIApp, token: str) -> ASGIApp:
    """Return an app that forwards requests with the header `Authorization: Bearer TOKEN` and answers all others with 401."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, f"Bearer {token}".encode()):
                await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
                await send({"type": "http.response.body"})
                return
        await app(scope, receive, send)

    return guarded
