"""Workbench pages for notebooks and for a server that listens on loopback and checks request origins."""

from __future__ import annotations

import hmac
import secrets
import socket
import webbrowser
from contextvars import copy_context
from functools import cache, partial
from html import escape
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import panel as pn
import polars as pl

from malsim import api
from malsim.base.errors import MalsimError, UsageError, nearest
from malsim.base.files.paths import inside
from malsim.base.plain_text import plain_text
from malsim.examples import root
from malsim.lab.workbench.changes import Tuning, query_of, tuning_of
from malsim.lab.workbench.page.live_page import LivePage
from malsim.lab.workbench.parts.ops_bench import OpsBench
from malsim.lab.workbench.parts.store_view import StoreView
from malsim.lab.workbench.trace_lines import most_moved, steps, traces_of
from malsim.lab.workbench.view.components import html
from malsim.lab.workbench.view.figures import COLOURS
from malsim.memory.tables.connect import is_store
from malsim.netlist import read as read_netlist
from malsim.sim.replay.disputes import disputes
from malsim.sim.replay.feed import arranged, claims_to_admit
from malsim.sim.settings.netlist_config import NetlistConfig
from malsim.sim.settings.scenario import Scenario
from malsim.sim.writers.engine.claim_files import read_claims

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.lab.workbench.trace_lines import TraceLine

EXAMPLES = {
    "worked_example": "A decision is contradicted twice. What is it still worth, and why?",
    "mutual_dispute": "Three claims dispute each other. Which ceiling stops the ringing?",
    "tripwire": "An alarm that trips on evidence or age, and stays until it is acknowledged.",
    "decay_classes": "Stable, volatile and ephemeral claims lose currency, each at its own rate.",
    "overconfident_humble": "An overconfident writer is discounted; a humble one is not.",
    "poisoner": "A liar among honest writers, and a reader who acts on what it reads.",
    "severity_ladder": "The more a claim is disputed, the more lamps of a ladder are lit.",
    "concern_feedback": "A watch whose doubt counts against the claim it watches drives itself.",
}  # fmt: skip
WIDE, HIGH, LINES = 220, 74, 6
MOST_CLAIMS = 3_000
DAYS = 30.0
KINDS = (".toml", ".malnet", ".csv", ".csv.gz", ".parquet", ".ndjson", ".jsonl")
LOOPBACK = "127.0.0.1"
STYLE = """
:root { color-scheme: light dark; }
html, body { background: light-dark(#f5f6f8, #12151a); margin: 0; }
body { padding: 14px max(14px, calc((100vw - 1500px) / 2)); box-sizing: border-box; }
"""


def example_path(name: str) -> Path:
    """Return the path of a shipped scenario. Raise `UsageError` if no shipped scenario has this name."""
    names = {path.stem: path for path in (root() / "scenarios").glob("*.toml")}
    if name not in names:
        raise UsageError("no such example", where="scenario", given=name, hint=nearest(name, names, "see the gallery"))
    return names[name]


def path_of_name(name: str, folder: Path) -> Path:
    """Return the file called `name` in `folder` or below, or the shipped scenario of that name."""
    if "/" in name or "." in name:
        path = inside(folder, name, where="scenario")
        if path.is_file():
            return path
    return example_path(name)


def scenario_of_path(path: str | Path, *, allow_code: bool = False) -> Scenario:
    """Read a scenario, or create one that runs a netlist for 30 days or replays a file of up to 3,000 claims."""
    path = Path(path)
    if path.suffix == ".malnet":
        netlist = NetlistConfig(document=read_netlist(path))
        return Scenario(name=path.stem, why=f"The netlist {path.name}.", days=DAYS, netlist=netlist, path=str(path))
    if path.suffix != ".toml" and path.name.endswith(KINDS):
        return _scenario_of_claims(path)
    return api.read(path, allow_code=allow_code)


def _scenario_of_claims(path: Path) -> Scenario:
    """Return a scenario that replays a file's claims at their recorded times or, without times, 1 % of them per day."""
    claims = read_claims(path).claims
    if claims.height > MOST_CLAIMS:
        hint, allowed = "use malsim compare for longer files", f"at most {MOST_CLAIMS}"
        raise UsageError("too many claims for a live page", where=str(path), given=claims.height, allowed=allowed, hint=hint)
    stream = arranged(claims, seed=0)
    admitted = claims_to_admit(stream, disputes(stream, mutual=False))
    last = float(stream["t"].max() or 0.0)  # type: ignore[arg-type]  # polars types the most of any column
    sequence = pl.int_range(pl.len()).over("writer").alias("sequence")
    claims = admitted.with_columns(sequence, rep=pl.lit(0, pl.Int32))
    return Scenario(name=path.stem, why=f"The claims of {path.name}.", days=max(last, 1.0) + 1.0, claims=claims)


def component(scenario: Scenario | str | Path) -> Any:
    pn.extension(inline=True)
    base = scenario_of_path(scenario, allow_code=True) if isinstance(scenario, str | Path) else scenario
    page = LivePage(Tuning(base=base), lambda call: call(), at_once=True)
    page.runner.ask(page.tuning)
    page.on_draw = lambda: pn.io.push_notebook(*page.plots.objects)
    return page.view


def page_for(
    target: str | None, query: Mapping[str, Sequence[str]], *, folder: Path, allow_code: bool, token: str = ""
) -> Any:
    """Return the page that a parsed query selects: a scenario, an op, a store, or by default the gallery."""
    document, location = pn.state.curdoc, pn.state.location
    schedule = document.add_next_tick_callback
    name = query.get("scenario", [""])[0]
    if "op" in query:
        try:
            return OpsBench(query["op"][0], folder).view
        except MalsimError as problem:
            return _message(str(problem))
    if not name and target is None:
        return gallery(schedule, pn.state.onload)
    try:
        path = path_of_name(name, folder) if name else Path(str(target))
        if path.is_file() and is_store(path):
            store = StoreView(path)
            pn.state.onload(store.follow)
            return store.view
        base = Tuning(base=scenario_of_path(path, allow_code=allow_code))
    except (MalsimError, OSError) as problem:
        return _message(str(problem))
    try:
        tuning, refused = tuning_of(base, query), ""
    except MalsimError as problem:
        tuning, refused = base, f"{problem}. The rest of this address was ignored."

    def update_address(tuning: Tuning) -> None:
        location.search = query_of(tuning, name, token)

    resolved, below = path.resolve(), folder.resolve()
    name = name or (resolved.relative_to(below).as_posix() if resolved.is_relative_to(below) else "")
    page = LivePage(tuning, schedule, folder=folder, address=update_address, notice=plain_text(refused))
    # Run only once the page has loaded, because earlier calls from another thread can be lost.
    pn.state.onload(partial(page.runner.ask, tuning))
    return page.view


def _message(text: str) -> Any:
    return html(f"<h2>malsim workbench</h2><p class='wb-error'>{escape(plain_text(text))}</p><p><a href='?'>Back</a></p>")


def gallery(schedule: Callable[[Callable[[], None]], None], onload: Callable[[Callable[[], None]], None]) -> Any:
    """Return a pane with one card per example. Each card's figure is added when its run finishes."""
    pane = html(_cards({}))

    def draw() -> None:
        pictures = {}
        for name in EXAMPLES:
            pictures[name] = _picture(name)
            schedule(partial(setattr, pane, "object", _cards(pictures)))

    onload(Thread(target=copy_context().run, args=(draw,), daemon=True, name="malsim gallery").start)
    return pane


def _cards(pictures: Mapping[str, str]) -> str:
    blank = f"<svg viewBox='0 0 {WIDE} {HIGH}' aria-hidden='true'></svg>"
    cards = [
        f"<a href='?scenario={name}'>{pictures.get(name, blank)}<h3 style='margin-top:8px'>{escape(name)}</h3>"
        f"<p class='small soft'>{escape(sentence)}</p></a>"
        for name, sentence in EXAMPLES.items()
    ]
    head = "<h2 style='font-size:18px'>malsim workbench</h2><p class='soft'>Choose an example, or name a file: "
    head += "<code>malsim workbench FILE</code>. <a href='?op=pid' style='color:inherit'>Try an op alone</a>.</p>"
    return f"{head}<div class='cards'>{''.join(cards)}</div>"


@cache
def _picture(name: str) -> str:
    run = api.run(api.read(example_path(name)).replace(replications=1), watch=iter)
    traces = traces_of(run)
    panels = (traces.get(panel, ()) for panel in ("effective", "currency"))
    liveliest = max(panels, key=lambda lines: max((line.moved for line in lines), default=-1.0))
    lines = [
        _polyline(trace, COLOURS[index % len(COLOURS)], run.scenario.days)
        for index, trace in enumerate(most_moved(liveliest, LINES))
    ]
    return f"<svg viewBox='0 0 {WIDE} {HIGH}' preserveAspectRatio='none' aria-hidden='true'>{''.join(lines)}</svg>"


def _polyline(trace: TraceLine, colour: str, days: float) -> str:
    x, y = steps(trace.t, trace.values)
    points = [
        f"{WIDE * day / days:.1f},{HIGH - 4 - (HIGH - 8) * min(max(value, 0.0), 1.0):.1f}"
        for day, value in zip(x, y, strict=True)
        if value == value  # noqa: PLR0124  # NaN
    ]
    look = f"fill='none' stroke='{colour}' stroke-width='1.6' vector-effect='non-scaling-stroke'"
    return f"<polyline points='{' '.join(points)}' {look}/>"


def serve(*, target: str | None, host: str | None, port: int, allow_code: bool, show: bool, ready: Any = print) -> None:
    """Serve the workbench until Ctrl-C. `ready` is called with the address; port 0 selects a free port.

    If `host` is given, other machines can open the page, and its address contains a token.
    """
    token = secrets.token_urlsafe(24) if host else ""
    host = host or LOOPBACK
    port = port or free_port(host)

    def page() -> Any:
        query = {
            name: [value.decode("utf-8", "replace") for value in values] for name, values in pn.state.session_args.items()
        }
        if token and not hmac.compare_digest(query.pop("token", [""])[0].encode(), token.encode()):
            return html("<p>This address needs the token that malsim workbench printed.</p>")
        query.pop("token", None)
        return page_for(target, query, folder=Path.cwd(), allow_code=allow_code, token=token)

    pn.extension(raw_css=[STYLE], notifications=False)
    origins = sorted({host, "localhost"}) if host == LOOPBACK else [host]
    try:
        server = pn.serve(
            {"/": page}, address=host, port=port, show=False, start=False, threaded=False,
            websocket_origin=[f"{name}:{port}" for name in origins], title="malsim workbench", verbose=False,
            index=None, check_unused_sessions_milliseconds=5_000, unused_session_lifetime_milliseconds=30_000,
        )  # fmt: skip
    except OSError as error:
        hint = "choose another port; --port 0 selects a free one"
        raise UsageError("this port cannot be used", where="--port", given=port, hint=hint) from error
    address = f"http://{host}:{port}/" + (f"?token={token}" if token else "")
    ready(address)
    if show:
        server.io_loop.add_callback(webbrowser.open, address)
    try:
        server.run_until_shutdown()
    except KeyboardInterrupt:
        server.stop()


def free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
