"""Pages for notebooks and for visitors of the server, which listens on loopback and checks origins."""

from __future__ import annotations

import hmac
import secrets
import socket
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import panel as pn

from malsim.base.errors import MalsimError, UsageError
from malsim.base.plain_text import plain_text
from malsim.lab.workbench.changes import Tuning, query_of, tuning_of
from malsim.lab.workbench.page.live_page import LivePage
from malsim.lab.workbench.parts.gallery import gallery
from malsim.lab.workbench.parts.ops_bench import OpsBench
from malsim.lab.workbench.parts.store_view import StoreView
from malsim.lab.workbench.targets import holds_store, name_below, path_of_name, scenario_of_path
from malsim.lab.workbench.view.components import html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.sim.settings.scenario import Scenario


def component(scenario: Scenario | str | Path) -> Any:
    pn.extension(inline=True)
    base = scenario_of_path(scenario, allow_code=True) if isinstance(scenario, str | Path) else scenario
    page = LivePage(Tuning(base=base), lambda call: call(), at_once=True)
    page.runner.ask(page.tuning)
    page.on_draw.append(lambda: pn.io.push_notebook(*page.plots.objects))
    return page.view


def page_for(
    target: str | None, words: Mapping[str, Sequence[str]], *, folder: Path, allow_code: bool, token: str = ""
) -> Any:
    """Return the page of an address: a scenario, an op, a store, or the gallery if nothing is named."""
    document, location = pn.state.curdoc, pn.state.location
    schedule = document.add_next_tick_callback
    named = words.get("scenario", [""])[0]
    if "op" in words:
        try:
            return OpsBench(words["op"][0], folder).view
        except MalsimError as problem:
            return _message(str(problem))
    if not named and target is None:
        return gallery(schedule, pn.state.onload)
    try:
        path = path_of_name(named, folder) if named else Path(str(target))
        if holds_store(path):
            store = StoreView(path)
            pn.state.onload(store.follow)
            return store.view
        base = Tuning(base=scenario_of_path(path, allow_code=allow_code))
    except (MalsimError, OSError) as problem:
        return _message(str(problem))
    try:
        tuning, refused = tuning_of(base, words), ""
    except MalsimError as problem:
        tuning, refused = base, f"{problem}. The rest of this address was not read."

    def tell(tuning: Tuning) -> None:
        location.search = query_of(tuning, named, token)

    named = named or name_below(path, folder)
    page = LivePage(tuning, schedule, folder=folder, address=tell, notice=plain_text(refused))
    pn.state.onload(partial(page.runner.ask, tuning))  # before, a call from another thread can be lost
    return page.view


def _message(text: str) -> Any:
    return html(f"<h2>malsim workbench</h2><p class='wb-error'>{escape(plain_text(text))}</p><p><a href='?'>Back</a></p>")


LOOPBACK = "127.0.0.1"
LOOK = """
:root { color-scheme: light dark; }
html, body { background: light-dark(#f5f6f8, #12151a); margin: 0; }
body { padding: 14px max(14px, calc((100vw - 1500px) / 2)); box-sizing: border-box; }
"""


@dataclass(frozen=True, kw_only=True)
class Serving:
    """Settings of a server: the file given, host, port, token, and consent to run code."""

    target: str | None = None
    host: str = LOOPBACK
    port: int = 0
    allow_code: bool = False
    token: str = ""

    def page(self) -> Any:
        words = {
            name: [value.decode("utf-8", "replace") for value in values] for name, values in pn.state.session_args.items()
        }
        if self.token and not hmac.compare_digest(words.pop("token", [""])[0].encode(), self.token.encode()):
            return html("<p>This address needs the token that malsim workbench printed.</p>")
        words.pop("token", None)
        return page_for(self.target, words, folder=Path.cwd(), allow_code=self.allow_code, token=self.token)


def serve(serving: Serving, *, show: bool, ready: Any = print) -> None:
    """Serve the page until Ctrl-C; `ready` is called with its address."""
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
    pn.extension(raw_css=[LOOK], notifications=False)
    return pn.serve(
        {"/": serving.page}, address=serving.host, port=serving.port, show=False, start=False, threaded=False,
        websocket_origin=_origins(serving), title="malsim workbench", verbose=False,
        index=None, check_unused_sessions_milliseconds=5_000, unused_session_lifetime_milliseconds=30_000,
    )  # fmt: skip


def free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _origins(serving: Serving) -> list[str]:
    names = {serving.host, *(("localhost", LOOPBACK) if serving.host == LOOPBACK else ())}
    return [f"{name}:{serving.port}" for name in sorted(names)]


def new_token() -> str:
    return secrets.token_urlsafe(24)


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
