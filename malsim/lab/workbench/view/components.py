"""Panel components of the workbench page, each with a small JavaScript file, and the page layout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import panel as pn
import param
from panel.custom import JSComponent

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parents[1] / "scripts"


def _read(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


CSS, WRAP, CARD, TABS = (_read(f"{name}.css") for name in ("workbench", "wrap", "card", "tabs"))


class PageComponent(JSComponent):  # type: ignore[misc]  # Panel ships no types
    """Base class of the page's components, which share one style sheet."""

    __abstract = True
    _stylesheets: ClassVar[list[str]] = [CSS]

    def answer(self, callback: Callable[[dict[str, Any]], None]) -> None:
        """Call `callback` with each message that the component sends."""
        self.on_msg(lambda event: callback(event.data))


class PageHead(PageComponent):
    """Header of the page. Sends `press` with a button's label, or `drop` with the index of a held result."""

    title = param.String()
    about = param.String()
    checks = param.String()
    mark = param.String()
    error = param.String()
    progress = param.Number(-1.0)
    holds = param.List([])
    buttons = param.List([])
    _esm = _read("bar.js")


class SettingsPanel(PageComponent):
    """Panel of grouped settings. Sends the `name` and `value` of a change, or `reset` with a name or `all`."""

    groups = param.List([])
    values = param.Dict({})
    errors = param.Dict({})
    _esm = _read("settings.js")


class Legend(PageComponent):
    """Legend of all traces with their values under the cursor. Sends `panel`, `name` and `shown` of a toggled trace."""

    key = param.String()
    panels = param.List([])
    day = param.Number(None, allow_None=True)
    _esm = _read("legend.js")


class RowTable(PageComponent):
    """Table of text rows. Sends the index of a row that is clicked."""

    heads = param.List([])
    rows = param.List([])
    empty = param.String("")
    _esm = _read("table.js")


class FieldForm(PageComponent):
    """Form with fields and buttons. Sends `press` with a button's label and the values of the fields."""

    fields = param.List([])
    buttons = param.List([])
    note = param.String("")
    failed = param.Boolean(False)
    file = param.Dict({})
    _esm = _read("form.js")

    def answer(self, callback: Callable[[dict[str, Any]], None]) -> None:
        """Call `callback` after each press of a button, once the typed values have been stored in the fields."""

        def keep(message: dict[str, Any]) -> None:
            self.fields = [field | {"value": message["values"].get(field["name"])} for field in self.fields]
            callback(message)

        super().answer(keep)

    def say(self, text: str, *, failed: bool = False) -> None:
        self.param.update(note=text, failed=failed)


class TextEditor(PageComponent):
    """Text editor with notes on individual lines. Sends `text` 300 ms after the last keystroke."""

    text = param.String("")
    label = param.String("")
    notes = param.List([])
    _esm = _read("editor.js")


class NetDiagram(PageComponent):
    """Diagram of a netlist as boxes and wires with live values."""

    key = param.String()
    boxes = param.List([])
    wires = param.List([])
    _esm = _read("diagram.js")


def html(text: str, **options: Any) -> Any:
    """Return an HTML pane in the page's style. The caller must escape untrusted text."""
    return pn.pane.HTML(text, stylesheets=[CSS], sizing_mode="stretch_width", **options)


def laid_out(page: Any) -> Any:
    plots = card(page.plots, css_classes=["wb-plots"])
    legend = card(page.legend, css_classes=["wb-legend"])
    checks = card(html("<h2>Checks</h2>"), page.checks.table, page.checks.form, css_classes=["wb-half"])
    why = card(page.why.view, css_classes=["wb-half"])
    main = pn.Column(
        wrap(plots, legend), wrap(checks, why), tabbed(page), sizing_mode="stretch_width", css_classes=["wb-main"], margin=0,
        styles={"gap": "16px"},
    )  # fmt: skip
    settings = card(page.settings, css_classes=["wb-settings"])
    return pn.Column(page.bar, wrap(settings, main), sizing_mode="stretch_width", margin=0, styles={"gap": "8px"})


def tabbed(page: Any) -> Any:
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
    views = [(name, pn.Column(*parts, sizing_mode="stretch_width", margin=(10, 0))) for name, parts in tabs.items()]
    pane = pn.Tabs(*views, dynamic=True, sizing_mode="stretch_width", stylesheets=[TABS], margin=0)
    return card(pane, css_classes=["wb-parts"])


def card(*parts: Any, css_classes: list[str]) -> Any:
    return pn.Column(*parts, sizing_mode="stretch_width", css_classes=css_classes, stylesheets=[CARD], margin=0)


def wrap(*parts: Any) -> Any:
    return pn.Row(*parts, sizing_mode="stretch_width", stylesheets=[WRAP], margin=0)
