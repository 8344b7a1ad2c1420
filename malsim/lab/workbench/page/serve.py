"""The server of the page: loopback only unless a host is named, origins checked, no request to another machine."""

from __future__ import annotations

import hmac
import secrets
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import panel as pn

from malsim.base.errors import UsageError
from malsim.lab.workbench.page.open_page import page_for
from malsim.lab.workbench.view.components import html

LOOPBACK = "127.0.0.1"
LOOK = """
:root { color-scheme: light dark; }
html, body { background: light-dark(#f5f6f8, #12151a); margin: 0; }
body { padding: 14px max(14px, calc((100vw - 1500px) / 2)); box-sizing: border-box; }
"""


@dataclass(frozen=True, kw_only=True)
class Serving:
    """How a workbench is served: the file given, where, and whether code that a scenario names may run."""

    target: str | None = None
    host: str = LOOPBACK
    port: int = 0
    allow_code: bool = False
    token: str = ""

    def page(self) -> Any:
        """Return the page for one visitor, by the words of its address."""
        words = {
            name: [value.decode("utf-8", "replace") for value in values] for name, values in pn.state.session_args.items()
        }
        if self.token and not hmac.compare_digest(words.pop("token", [""])[0].encode(), self.token.encode()):
            return html("<p>This address needs the token that malsim workbench printed.</p>")
        words.pop("token", None)
        return page_for(self.target, words, folder=Path.cwd(), allow_code=self.allow_code, token=self.token)


def serve(serving: Serving, *, show: bool, ready: Any = print) -> None:
    """Serve the page until Ctrl-C; `ready` is given its address."""
    serving = replace(serving, port=serving.port or free_port(serving.host))
    try:
        server = server_of(serving)
    except OSError as error:
        hint = "--port 0 takes a free one"
        raise UsageError("this port cannot be used", where="--port", given=serving.port, hint=hint) from error
    address = f"http://{serving.host}:{serving.port}/" + (f"?token={serving.token}" if serving.token else "")
    ready(address)
    if show:
        server.io_loop.add_callback(_open, address)
    try:
        server.run_until_shutdown()
    except KeyboardInterrupt:
        server.stop()


def server_of(serving: Serving) -> Any:
    """Return the server, listening but not yet answering."""
    pn.extension(raw_css=[LOOK], notifications=False)
    return pn.serve(
        {"/": serving.page}, address=serving.host, port=serving.port, show=False, start=False, threaded=False,
        websocket_origin=_origins(serving), title="malsim workbench", verbose=False,
        index=None, check_unused_sessions_milliseconds=5_000, unused_session_lifetime_milliseconds=30_000,
    )  # fmt: skip


def free_port(host: str) -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _origins(serving: Serving) -> list[str]:
    names = {serving.host, *(("localhost", LOOPBACK) if serving.host == LOOPBACK else ())}
    return [f"{name}:{serving.port}" for name in sorted(names)]


def new_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(24)


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
