"""Components of the page, each with a small script next to this file, and their layout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import panel as pn
import param
from panel.custom import JSComponent

if TYPE_CHECKING:
    from collections.abc import Callable


FOLDER = Path(__file__).parents[1] / "scripts"
CSS = (FOLDER / "workbench.css").read_text(encoding="utf-8")


def style(name: str) -> str:
    return (FOLDER / f"{name}.css").read_text(encoding="utf-8")


def _script(name: str) -> str:
    return (FOLDER / f"{name}.js").read_text(encoding="utf-8")


class PageComponent(JSComponent):  # type: ignore[misc]  # Panel ships no types
    """Base class of components in the page's style."""

    __abstract = True
    _stylesheets: ClassVar[list[str]] = [CSS]

    def answer(self, callback: Callable[[dict[str, Any]], None]) -> None:
        """Call a function with each message of the component."""
        self.on_msg(lambda event: callback(event.data))


class PageHead(PageComponent):
    """Head of the page; sends `press` with a button's word, and `drop` with the index of a held picture."""

    title = param.String()
    about = param.String()
    checks = param.String()
    mark = param.String()
    error = param.String()
    progress = param.Number(-1.0)
    holds = param.List([])
    buttons = param.List([])
    _esm = _script("bar")


class SettingsPanel(PageComponent):
    """Settings in groups; sends `name` and `value` of a change, or `reset` with a name or `all`."""

    groups = param.List([])
    values = param.Dict({})
    errors = param.Dict({})
    _esm = _script("settings")


class Legend(PageComponent):
    """Traces by panel with their values under the cursor; sends panel, name and whether a trace is shown."""

    key = param.String()
    panels = param.List([])
    day = param.Number(None, allow_None=True)
    _esm = _script("legend")


class RowTable(PageComponent):
    """Rows of text; sends the index of a row that is clicked."""

    heads = param.List([])
    rows = param.List([])
    empty = param.String("")
    _esm = _script("table")


class FieldForm(PageComponent):
    """Fields and buttons; sends `press` with a button's word and the fields' values."""

    fields = param.List([])
    buttons = param.List([])
    note = param.String("")
    failed = param.Boolean(False)
    file = param.Dict({})
    _esm = _script("form")

    def answer(self, callback: Callable[[dict[str, Any]], None]) -> None:
        """Call a function with each press of a button; what was typed stays in the fields."""

        def keep(message: dict[str, Any]) -> None:
            self.fields = [field | {"value": message["values"].get(field["name"])} for field in self.fields]
            callback(message)

        super().answer(keep)

    def say(self, text: str, *, failed: bool = False) -> None:
        self.param.update(note=text, failed=failed)


class TextEditor(PageComponent):
    """Text with notes at its lines; sends `text` 300 ms after the last key."""

    text = param.String("")
    label = param.String("")
    notes = param.List([])
    _esm = _script("editor")


class NetDiagram(PageComponent):
    """Net as boxes and wires with live values."""

    key = param.String()
    boxes = param.List([])
    wires = param.List([])
    _esm = _script("diagram")


def html(text: str, **options: Any) -> Any:
    """Return a pane of HTML in the page's style; foreign text must be escaped by the caller."""
    import panel as pn

    return pn.pane.HTML(text, stylesheets=[CSS], sizing_mode="stretch_width", **options)


WRAP = style("wrap")
CARD = style("card")

TABS = style("tabs")


def laid_out(page: Any) -> Any:
    plots = card(page.plots, css_classes=["wb-plots"])
    legend = card(page.legend, css_classes=["wb-legend"])
    checks = card(html("<h2>Checks</h2>"), page.checks.table, page.checks.form, css_classes=["wb-half"])
    why = card(page.why.view, css_classes=["wb-half"])
    main = pn.Column(
        wrap(plots, legend), wrap(checks, why), parts(page), sizing_mode="stretch_width", css_classes=["wb-main"], margin=0,
        styles={"gap": "16px"},
    )  # fmt: skip
    settings = card(page.settings, css_classes=["wb-settings"])
    return pn.Column(page.bar, wrap(settings, main), sizing_mode="stretch_width", margin=0, styles={"gap": "8px"})


def parts(page: Any) -> Any:
    wires = wrap(
        pn.Column(page.wires.editor, sizing_mode="stretch_width", css_classes=["wb-half"], margin=0),
        pn.Column(page.wires.diagram, sizing_mode="stretch_width", css_classes=["wb-half"], margin=0),
    )
    tabs = {
        "Wires": [wires],
        "Step": [page.stepping.form, page.stepping.table],
        "Find": [page.finding.form],
        "Inputs": [page.inputs.form, page.inputs.table],
        "Save": [page.saving.form],
    }
    views = [(name, pn.Column(*own, sizing_mode="stretch_width", margin=(10, 0))) for name, own in tabs.items()]
    tabbed = pn.Tabs(*views, dynamic=True, sizing_mode="stretch_width", stylesheets=[TABS], margin=0)
    return card(tabbed, css_classes=["wb-parts"])


def card(*parts: Any, css_classes: list[str]) -> Any:
    return pn.Column(*parts, sizing_mode="stretch_width", css_classes=css_classes, stylesheets=[CARD], margin=0)


def wrap(*parts: Any) -> Any:
    return pn.Row(*parts, sizing_mode="stretch_width", stylesheets=[WRAP], margin=0)
