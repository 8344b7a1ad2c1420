"""The page for a notebook, and for one visitor of the server."""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import panel as pn

from malsim.base.errors import MalsimError
from malsim.base.plain_text import plain_text
from malsim.lab.workbench.changes import Tuning
from malsim.lab.workbench.page.live_page import LivePage
from malsim.lab.workbench.page_address import query_of, tuning_of
from malsim.lab.workbench.parts.gallery import gallery
from malsim.lab.workbench.parts.ops_bench import OpsBench
from malsim.lab.workbench.parts.store_view import StoreView
from malsim.lab.workbench.targets import holds_store, name_below, path_of_name, scenario_of_path
from malsim.lab.workbench.view.components import html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.sim.settings.scenario import Scenario


def component(scenario: Scenario | str | Path) -> Any:
    """Return the page as a component of a notebook."""
    pn.extension(inline=True)
    base = scenario_of_path(scenario, allow_code=True) if isinstance(scenario, str | Path) else scenario
    page = LivePage(Tuning(base=base), lambda call: call(), at_once=True)
    page.runner.ask(page.tuning)
    page.on_draw.append(lambda: pn.io.push_notebook(*page.plots.objects))
    return page.view


def page_for(
    target: str | None, words: Mapping[str, Sequence[str]], *, folder: Path, allow_code: bool, token: str = ""
) -> Any:
    """Return the page that an address asks for: a scenario, or the gallery where neither it nor `target` names one."""
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
    """Return a page that says what is wrong, and where the examples are."""
    return html(f"<h2>malsim workbench</h2><p class='wb-error'>{escape(plain_text(text))}</p><p><a href='?'>Back</a></p>")
