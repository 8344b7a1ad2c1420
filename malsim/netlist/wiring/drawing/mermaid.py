"""A net as a Mermaid flowchart, which code hosts draw inside Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.netlist.wiring.drawing.diagram import Diagram

_SHAPES = {"op": ("[", "]"), "source": ("([", "])"), "sink": ("[/", "/]")}


def mermaid(laid: Diagram) -> str:
    codes = {name: f"n{index}" for index, name in enumerate(laid.boxes["name"])}
    lines = ["flowchart LR"]
    for box in laid.boxes.to_dicts():
        before, after = _SHAPES[box["kind"]]
        lines.append(f'  {codes[box["name"]]}{before}"{_escaped(box["title"])}"{after}')
    for wire in laid.wires.to_dicts():
        pins = " → ".join(pin for pin in (wire["source_pin"], wire["target_pin"]) if pin)
        label = _escaped(f"{wire['signal']}: {pins}" if pins else wire["signal"])
        arrow = "-.->" if wire["late"] else "-->"
        lines.append(f'  {codes[wire["source"]]} {arrow}|"{label}"| {codes[wire["target"]]}')
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    for mark, code in (("&", "#amp;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("|", "#124;")):
        text = text.replace(mark, code)
    return " ".join(text.split())
