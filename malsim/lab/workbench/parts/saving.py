"""Form that saves the scenario, netlist, rules, figure or traces to the working folder or as a download."""

from __future__ import annotations

import base64
import io
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import MalsimError
from malsim.base.files.outputs import whole_file
from malsim.base.files.paths import inside
from malsim.base.files.toml_text import toml_text
from malsim.base.files.vcd import vcd_text
from malsim.lab.space.settings import set_in_document
from malsim.lab.workbench.changes import LAW
from malsim.lab.workbench.trace_lines import title_of
from malsim.lab.workbench.view.components import FieldForm
from malsim.scenario.file.scenario_file import parse
from malsim.showing.plots.runs.signal_lanes import signal_lanes
from malsim.sim.agent.netlist_runner import ALARMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.lab.workbench.changes import Result, Tuning
    from malsim.lab.workbench.trace_lines import TraceLine
    from malsim.sim.settings.scenario import Scenario

KINDS = {
    "scenario": ".toml", "netlist": ".malnet", "rules": ".rules.toml", "figure as PNG": ".png", "figure as SVG": ".svg",
    "traces as CSV": ".csv", "traces as VCD": ".vcd",
}  # fmt: skip


def content(kind: str, result: Result, visible: Mapping[str, Sequence[TraceLine]], title: str) -> bytes:
    """Return the bytes of a file of the given kind (see `KINDS`). A figure shows the `visible` traces under `title`."""
    tuning = result.tuning
    if kind == "scenario":
        return scenario_text(tuning).encode()
    if kind == "netlist":
        return tuning.netlist_text.encode()
    if kind == "rules":
        rules = {name.removeprefix("rules."): value for name, value in tuning.values.items() if name.startswith("rules.")}
        return toml_text({"rules": rules}).encode()
    if kind == "traces as CSV":
        return samples_of(visible).write_csv().encode()
    if kind == "traces as VCD":
        several_per_cell = pl.col("panel").is_in(["effective", "currency", "rank"])
        channel = pl.when(several_per_cell).then(pl.format("{}.{}", "trace", "panel")).otherwise("trace")
        bits = [trace.name for trace in visible.get("bits", ())]
        samples = samples_of(visible).with_columns(channel=channel)
        return vcd_text(samples, bits, tick=tuning.scenario.turn_every).encode()
    return _figure(result, visible, title, "png" if kind.endswith("PNG") else "svg")


def samples_of(visible: Mapping[str, Sequence[TraceLine]]) -> pl.DataFrame:
    """Return one row per sample: panel, trace, t (days), value, low, high (both null if there is no band)."""
    frames = []
    for panel, traces in visible.items():
        for trace in traces:
            nulls = [None] * len(trace.t)
            columns = {"t": trace.t, "value": trace.values, "low": trace.low or nulls, "high": trace.high or nulls}
            frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64))
            frames.append(frame.select(pl.lit(panel).alias("panel"), pl.lit(trace.name).alias("trace"), pl.all()))
    return pl.concat(frames)


def scenario_text(tuning: Tuning) -> str:
    """Return the changed scenario as TOML with its netlist embedded. Raise `MalsimError` if it cannot be read back."""
    base = tuning.base
    document: dict[str, Any] = json.loads(json.dumps(tomllib.loads(base.text), default=str)) if base.text else {}
    document.setdefault("why", base.why or "Made in the workbench.")
    if not base.text:
        document["run"] = {"days": base.days}
        document |= {"claim": [_claim_table(row) for row in base.claims.to_dicts()]} if base.claims.height else {}
    for name, value in tuning.values.items():
        if name == LAW:
            document["memory"] = document.get("memory", {}) | {"law": value}
            document.pop("law", None)
        elif not name.startswith("netlist."):
            set_in_document(document, name, value)
    wires = tuning.scenario.netlist
    ops = any(name.startswith("netlist.") for name in tuning.values)
    if wires is not None and (tuning.netlist is not None or tuning.inputs or ops or "file" in document.get("netlist", {})):
        table = {name: value for name, value in document.get("netlist", {}).items() if name not in ("file", "signals")}
        added = [{"signal": input_.signal, "at": f"{input_.at}ms", "value": input_.value} for input_ in tuning.inputs]
        inputs = {"input": [*table.pop("input", []), *added]}
        document["netlist"] = {"text": wires.text, **table, **(inputs if inputs["input"] else {})}
        document.pop("derive", None)  # the netlist text already contains the derived nets
    for check in tuning.checks:
        document.setdefault("check", []).append({"name": check.name, "property": check.property})
    order = ("why", "seed", "run", "memory", "law", "rules", "netlist")
    named = {name: document.pop(name) for name in order if name in document}
    text = toml_text(named | document)
    parse(text, name=base.name, where=base.path or "workbench.toml")
    return text


def _claim_table(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("writer", "handle", "object", "title", "body", "confidence", "verification")
    table = {"at": f"{row['t']:.17g}d"} | {name: row[name] for name in names if row[name] is not None}
    edges = [{"relation": edge["relation"], "target": edge["target"]} for edge in row["edges"] or ()]
    return table | ({"edges": edges} if edges else {})


def _figure(result: Result, visible: Mapping[str, Sequence[TraceLine]], title: str, kind: str) -> bytes:
    samples = samples_of(visible).with_columns(channel=pl.format("{} ({})", "trace", "panel"))
    rows = [
        {"channel": f"{trace.name} ({panel})", "address": title_of(panel), "digital": panel == "bits", "panel": index}
        for index, (panel, traces) in enumerate(visible.items())
        for trace in traces
    ]
    run = result.run
    events = run.events.filter((pl.col("rep") == run.scenario.first) & pl.col("kind").is_in(ALARMS))
    sheet = signal_lanes(samples.select("t", "channel", "value"), pl.DataFrame(rows), events, title=title)
    buffer = io.BytesIO()
    sheet.savefig(buffer, format=kind)
    return buffer.getvalue()


SAVE, DOWNLOAD = "Save to folder", "Download"
TYPES = {".png": "image/png", ".svg": "image/svg+xml"}


class SavePart:
    """Form for saving a file. Overwriting an existing file takes a second press of the button."""

    def __init__(self, page: Any, folder: Path) -> None:
        self._page, self._folder, self._to_confirm = page, folder, ""
        self.form: Any = FieldForm(
            buttons=[{"word": SAVE, "title": f"write into {folder}"}, {"word": DOWNLOAD, "title": "save with the browser"}],
            sizing_mode="stretch_width",
        )
        self.form.fields = [
            {"name": "kind", "label": "save", "choices": list(KINDS), "value": "scenario"},
            {"name": "name", "label": "name", "value": _file_name(page.tuning.base, folder), "width": "220px"},
        ]
        self.form.answer(self._press)

    def _press(self, message: dict[str, Any]) -> None:
        result = self._page.result
        if result is None:
            return
        kind, name = str(message["values"]["kind"]), str(message["values"]["name"]).strip()
        try:
            path = inside(self._folder, name if name.endswith(KINDS[kind]) else name + KINDS[kind], where="save")
            data = content(kind, result, self._page.visible(result), self._page.title())
            if message["press"] == DOWNLOAD:
                encoded = base64.b64encode(data).decode()
                self.form.file = {"name": path.name, "data": encoded, "type": TYPES.get(path.suffix, "text/plain")}
                self.form.say(f"Downloaded {path.name}.")
            elif path.exists() and self._to_confirm != str(path):
                self._to_confirm = str(path)
                self.form.say(f"{path} exists. Press {SAVE} again to replace it.", failed=True)
            else:
                self._write(path, data)
        except MalsimError as problem:
            self.form.say(str(problem), failed=True)

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as partial:
            partial.write_bytes(data)
        self._to_confirm = ""
        self.form.say(f"Saved {path}.")


def _file_name(base: Scenario, folder: Path) -> str:
    parent, folder = Path(base.path).resolve().parent, folder.resolve()
    relative = parent.relative_to(folder) if parent.is_relative_to(folder) else Path()
    return (relative / f"{base.name}-tuned").as_posix()
