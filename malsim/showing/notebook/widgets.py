"""Sliders for notebooks: a small scenario, an op, and one cell's number, redrawn as they move.

Needs ipywidgets: pip install -c constraints.txt -e ".[notebooks]".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

import ops
from malsim.api import read, run
from malsim.base.errors import MalsimError, UsageError
from malsim.lab.space.settings import changed, setting, settings_of
from malsim.memory.explain import LawExplanation, explain_row
from malsim.memory.law import effective
from malsim.showing.plots.runs.live import Screen
from malsim.showing.plots.runs.waterfall import waterfall
from malsim.sim.settings.scenario import Scenario
from ops import OpError
from ops.pin.declare import bound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from malsim.api import Run
    from malsim.memory import Rules
    from ops.bench.response import Signal

Lines = dict[str, tuple[list[float], list[float | None]]]
COARSE = 80
LARGEST = 5.0  # a slider's end where a setting has none
ENDLESS = 1e6  # a bound as good as none
CALLS = 60


@dataclass(eq=False)
class Panel:
    """Sliders and the picture they redraw; `data` holds its numbers, `message` what went wrong."""

    sliders: Mapping[str, Any]
    draw: Callable[[dict[str, float]], tuple[bytes, Any]]
    data: Any = None
    message: str = ""
    widget: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        widgets = _ipywidgets()
        self._image, self._caption = widgets.Image(format="png"), widgets.HTML()
        for slider in self.sliders.values():
            slider.observe(self.redraw, names="value")
        self.widget = widgets.VBox([*self.sliders.values(), self._image, self._caption])
        self.redraw()

    def redraw(self, change: object = None) -> None:
        """Take the sliders' values and draw; the reason for a refusal stands beneath the picture."""
        del change
        try:
            self._image.value, self.data = self.draw({name: one.value for name, one in self.sliders.items()})
            self.message = ""
        except (MalsimError, OpError) as error:
            self.message = str(error)
        self._caption.value = self.message

    @property
    def png(self) -> bytes:
        """The picture that stands."""
        return bytes(self._image.value)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)  # how a notebook shows any widget


def scenario(
    source: Scenario | str | Path, settings: Sequence[str], channels: Sequence[str], *, up: tuple[float, float] = (0.0, 1.0)
) -> Panel:
    """Sliders over a scenario's settings; it is run anew whenever one moves.

    Parameters
    ----------
    source
        A scenario or its file; a small one, for a run of 60 ticks is a blink.
    settings
        Dotted names: `rules.challenge_ceiling`, `writers.bots.count`, and an op's parameter as for `setp`, `weak.level`.
    channels
        Signals or addresses, drawn as a scope does.
    up
        The range of the values drawn.
    """
    script = source if isinstance(source, Scenario) else read(source)
    ranges = [_range(script, name) for name in settings]
    screen = Screen(channels, x="time (days)", y="value", across=(0.0, script.days), up=up, title=script.name)

    def draw(values: dict[str, float]) -> tuple[bytes, Lines]:
        capture = run(changed(script, {_full(script, name): value for name, value in values.items()})).scope(
            list(channels), events=()
        )
        lines: Lines = {
            name: (own["t"].to_list(), own["value"].to_list())
            for (name,), own in capture.samples.group_by("channel", maintain_order=True)
        }
        return screen.png(lines), lines

    return Panel({name: _slider(name, *one) for name, one in zip(settings, ranges, strict=True)}, draw)


def op(name: str, params: Sequence[str], *, signal: Signal = "step", tick: str = "1d", **fixed: Any) -> Panel:
    """Sliders over an op's parameters, and its answer to a step, a ramp, an impulse or a sine."""
    sheet = ops.load(name)
    ranges = [_param(sheet, one) for one in params]
    start = ops.respond(sheet, signal, fixed, tick=tick, calls=CALLS)
    names = [out for out in start.columns if out != "t" and start[out].dtype.is_numeric()]
    across = (0.0, float(start["t"][-1]))
    screen = Screen(names, x="time (days)", y="value", across=across, up=(-0.5, 1.5), title=f"{name}: {signal} response")

    def draw(values: dict[str, float]) -> tuple[bytes, Lines]:
        answer = ops.respond(sheet, signal, {**fixed, **values}, tick=tick, calls=CALLS)
        lines: Lines = {out: (answer["t"].to_list(), answer[out].cast(pl.Float64).to_list()) for out in names}
        return screen.png(lines), lines

    return Panel({one: _slider(one, *reach) for one, reach in zip(params, ranges, strict=True)}, draw)


def what_if(run: Run, cell: str, t: float | None = None, *, rep: int = 0) -> Panel:
    """What a cell would be worth, term by term, were it stated otherwise, its neighbours worth more, a ceiling lower."""
    explanation = run.explain(cell, t, rep)
    rules = run.scenario.rules
    if isinstance(explanation, LawExplanation):
        raise UsageError("another law's terms have no sliders", where="what_if", given=run.scenario.law, allowed="mal")
    if rules.effective is not None:
        raise UsageError("the terms of your own formula are not ours", where="what_if", given=cell)
    edges, factor = explanation.contributions, explanation.record["factor"] or 1.0
    starts = {"stated": explanation.terms["value"][0] / factor, "factor": factor}
    starts |= {f"{row['source']} {row['relation']}": row["worth"] for row in edges.to_dicts()}
    starts |= {name: getattr(rules, name) for name in ("support_ceiling", "challenge_ceiling")}

    def draw(values: dict[str, float]) -> tuple[bytes, pl.DataFrame]:
        terms, worth = _terms(values, edges, rules, cell)
        figure = waterfall(terms, worth, title=f'{explanation.handle} "{explanation.title}" on day {explanation.t:g}, if …')
        figure.set_dpi(COARSE)
        return figure._repr_png_(), terms  # the figure is ours

    return Panel({name: _slider(name, start, 0.0, 1.0) for name, start in starts.items()}, draw)


def _terms(values: dict[str, float], edges: pl.DataFrame, rules: Rules, cell: str) -> tuple[pl.DataFrame, float]:
    """The terms of a cell under these values, by the memory's own formula and explanation."""
    ceilings = {name: values[name] for name in ("support_ceiling", "challenge_ceiling")}
    worth = pl.Series("worth", [values[f"{source} {relation}"] for source, relation in edges["source", "relation"].rows()])
    neighbours = edges.select("source", "relation", "weight", worth.cast(pl.Float64))
    mass = neighbours["weight"] * neighbours["worth"]
    masses = float(mass.filter(mass > 0).sum()), -float(mass.filter(mass < 0).sum())
    worth_now = float(effective(values["stated"], values["factor"], *masses, **ceilings))  # type: ignore[arg-type]  # one cell
    row = {"cell": cell, "stated": values["stated"], "calibration": values["factor"], "effective": worth_now}
    row |= dict(zip(("support_mass", "challenge_mass"), masses, strict=True))
    record: dict[str, object] = {"claims": 0.0, "contradicted": 0.0}
    rules = changed(rules, {f"rules.{one}": value for one, value in {**ceilings, "damping": 1.0}.items()})
    explanation = explain_row(row, neighbours, record, t=0.0, rules=rules)
    return explanation.terms, explanation.effective


def _full(script: Scenario, name: str) -> str:
    """The whole name of a setting: an op's parameter may be named as for `setp`."""
    return name if name in settings_of(script) else f"netlist.{name}"


def _range(script: Scenario, name: str) -> tuple[float, float, float, bool]:
    """Where a slider stands and how far it goes: a setting's own bounds, as far as they are finite."""
    one = setting(_full(script, name), script, where="widgets")
    if one.choices:
        raise UsageError("a choice has no slider", where="widgets", given=name)
    return _reach(float(one.value), one.low + 0.01 * one.above, one.high, whole=one.whole)


def _param(sheet: ops.Sheet, name: str) -> tuple[float, float, float, bool]:
    pins = {key: slot.pin for key, slot in sheet.slots.items() if slot.pin.type in ("float", "int")}
    numeric = [key for key, pin in pins.items() if not math.isnan(float(pin.first))]  # NaN: on no signal
    if name not in numeric:
        raise UsageError("no number of this op", where=sheet.name, given=name, allowed=" ".join(numeric))
    pin = pins[name]
    return _reach(float(pin.first), bound(pin, "low"), bound(pin, "high"), whole=pin.type == "int")


def _reach(value: float, low: float, high: float, *, whole: bool) -> tuple[float, float, float, bool]:
    """A slider's start and ends; an end that is as good as none, or NaN, is one that a hand can still set."""
    least = low if low >= -ENDLESS else min(-LARGEST, 2.0 * value)
    most = high if high <= ENDLESS else max(LARGEST, 2.0 * value)
    return value, least, most, whole


def _slider(name: str, value: float, low: float, high: float, whole: bool = False) -> Any:  # noqa: FBT001, FBT002 - of a range
    widgets = _ipywidgets()
    slider = widgets.IntSlider if whole else widgets.FloatSlider
    step = 1 if whole else (high - low) / 100
    kind = int if whole else float
    look = {"description": name, "style": {"description_width": "initial"}, "layout": {"width": "480px"}}
    form = "d" if whole else ".3f"
    return slider(value=kind(value), min=kind(low), max=kind(high), step=step, readout_format=form, **look)


def _ipywidgets() -> Any:
    try:
        import ipywidgets
    except ImportError as error:
        hint = 'pip install -c constraints.txt -e ".[notebooks]"'
        raise UsageError("sliders need ipywidgets", where="malsim.showing.notebook.widgets", hint=hint) from error
    return ipywidgets
