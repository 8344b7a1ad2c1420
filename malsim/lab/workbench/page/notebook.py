"""The page for a notebook, and for one visitor of the server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import panel as pn

from malsim.lab.workbench.link import query_of, tuning_of
from malsim.lab.workbench.page.page import Page
from malsim.lab.workbench.sources import scenario_of_path
from malsim.lab.workbench.tuning import Tuning

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.sim.settings.scenario import Scenario


def component(scenario: Scenario | str | Path) -> Any:
    """Return the page as a component of a notebook."""
    pn.extension(inline=True)
    base = scenario_of_path(scenario, allow_code=True) if isinstance(scenario, str | Path) else scenario
    return _page(Tuning(base=base), lambda call: call()).view


def page_for(target: str, words: Mapping[str, Sequence[str]], *, folder: Path, allow_code: bool) -> Any:
    """Return the page that an address asks for."""
    document, location = pn.state.curdoc, pn.state.location
    named = words.get("scenario", [""])[0]
    base = Tuning(base=scenario_of_path(target, allow_code=allow_code))
    tuning = tuning_of(base, words)

    def tell(tuning: Tuning) -> None:
        location.search = query_of(tuning, named)

    return _page(tuning, document.add_next_tick_callback, folder=folder, address=tell).view


def _page(tuning: Tuning, schedule: Callable[[Callable[[], None]], None], **options: Any) -> Page:
    page = Page(tuning, schedule, **options)
    page.runner.ask(tuning)
    return page
