"""The layout of the page: settings at the left, figures and legend at the right, the parts beneath; one column if narrow."""

from __future__ import annotations

from typing import Any

import panel as pn

from malsim.lab.workbench.view.components import html, style

WRAP = style("wrap")
CARD = style("card")

TABS = style("tabs")


def laid_out(page: Any) -> Any:
    """Return the layout of a page."""
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
    """Return the parts that are opened when they are needed, as tabs."""
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
    """Return parts in one card."""
    return pn.Column(*parts, sizing_mode="stretch_width", css_classes=css_classes, stylesheets=[CARD], margin=0)


def wrap(*parts: Any) -> Any:
    """Return parts side by side, one under the other where there is little room."""
    return pn.Row(*parts, sizing_mode="stretch_width", stylesheets=[WRAP], margin=0)
