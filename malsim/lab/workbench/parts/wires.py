"""Netlist editor that checks the text as the user types, and a diagram with the values on the current day."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from malsim.base.errors import MalsimError
from malsim.lab.workbench.view.components import NetDiagram, TextEditor
from malsim.netlist import NetlistError, parse
from malsim.netlist.lint import lint
from malsim.netlist.wiring.diagram import diagram
from malsim.sim.settings.netlist_config import NetlistConfig

if TYPE_CHECKING:
    from malsim.netlist import Fault


class WiresPart:
    """Netlist editor and diagram. An edited netlist runs as soon as it links."""

    def __init__(self, page: Any) -> None:
        self._page, self._text = page, ""
        text = page.tuning.netlist_text
        self.editor: Any = TextEditor(text=text, label="Netlist", sizing_mode="stretch_width")
        self.diagram: Any = NetDiagram(key=page.key, sizing_mode="stretch_width")
        self.editor.answer(self._typed)
        self.editor.notes, _ = notes_of(text, page.tuning)

    def show(self) -> None:
        result = self._page.result
        wires = result.run.scenario.netlist if result else None
        text = wires.text if wires else ""
        if text == self._text:
            return
        self._text = text
        net = diagram(wires.net if wires else NetlistConfig.of("").net)
        self.diagram.param.update(wires=net.wires.to_dicts(), boxes=net.boxes.to_dicts())

    def _typed(self, message: dict[str, Any]) -> None:
        text = str(message["text"])
        self.editor.text = text  # stored, so that the tab still shows the typed text when it is reopened
        self.editor.notes, links = notes_of(text, self._page.tuning)
        if links:
            original = self._page.tuning.base.netlist
            unchanged = text == (original.text if original else "")
            self._page.change(replace(self._page.tuning, netlist=None if unchanged else text))


def notes_of(text: str, tuning: Any) -> tuple[list[dict[str, Any]], bool]:
    """Return the lint notes on a netlist (or its faults if it is invalid), and whether the netlist can run."""
    try:
        document = parse(text, file="netlist")
        config = NetlistConfig(document=document)
        scheduled = (*tuning.inputs, *(tuning.base.netlist.inputs if tuning.base.netlist else ()))
        inputs = [input_.signal for input_ in scheduled]
        notes = [_note(fault, "warning") for fault in lint(document, net=config.net, inputs=inputs)]
    except NetlistError as error:
        return [_note(fault, "error") for fault in error.faults], False
    except MalsimError as error:
        return [{"line": 0, "text": str(error), "kind": "error"}], False
    return notes, True


def _note(fault: Fault, kind: str) -> dict[str, Any]:
    parts = [fault.problem, f"given: '{fault.words}'" if fault.words and kind == "error" else "",
             f"allowed: {fault.allowed}" if fault.allowed else "", fault.hint]  # fmt: skip
    return {"line": fault.line, "text": "; ".join(part for part in parts if part), "kind": kind}
