"""The signals before and behind a signal of a net, its acknowledgements, and the lines where these stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.netlist.language.lexicon import ALARMS
from malsim.scenario.proof.ticks.cut import cut

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.netlist.wiring import Net, Signal
    from malsim.scenario.proof.ticks.cut import FreeInput

CLEARS = ("reset", "enable")  # pins of an op that holds an alarm by which it is cleared
MEMORY = {*ALARMS, "dbounce", "debounce", "ton", "tof", "timedelay", "oneshot", "toggle"}


def op_of(net: Net, signal: Signal) -> tuple[str, str, str]:
    """Return instance, pin and op that write a signal; empty where something outside writes it."""
    pin = signal.writer.pin if signal.writer else None
    inside = pin is not None and pin.instance in net.instances
    return (pin.instance, pin.name, net.instances[pin.instance].sheet.name) if pin and inside else ("", "", "")


def wired(net: Net, instance: str) -> dict[str, str]:
    """Return the signal on each wired pin of an instance."""
    head = f"{instance}."
    return {full.removeprefix(head): name for full, name in net.pins.items() if full.startswith(head)}


def inputs_of(net: Net, instance: str) -> dict[str, str]:
    """Return the signal on each wired input pin of an instance."""
    sheet = net.instances[instance].sheet
    return {pin: name for pin, name in wired(net, instance).items() if sheet.slots[pin].key in sheet.ins}


def before(net: Net, names: Iterable[str], *, through: bool = True) -> set[str]:
    """Return these signals and all that move them; with `through` false not across ops that hold an alarm."""
    cone, open_ = set(), list(names)
    while open_:
        name = open_.pop()
        if name in cone:
            continue
        cone.add(name)
        instance, _, op = op_of(net, net.signals[name])
        if instance and (through or op not in ALARMS):
            open_ += inputs_of(net, instance).values()
    return cone


def acknowledgements(net: Net) -> list[str]:
    """Return the free bits by which somebody clears an alarm: what a reviewer writes, and what reaches resets alone."""
    bits = [item for item in cut(net).inputs if item.type == "bit"]
    reviews = [item.name for item in bits if item.source.startswith("reviewer.")]
    holds = [(name, pin, signal) for name, item in net.instances.items() if item.sheet.name in ALARMS
             for pin, signal in inputs_of(net, name).items()]  # fmt: skip
    clearing = before(net, [signal for _, pin, signal in holds if pin in CLEARS], through=False)
    setting = before(net, [signal for _, pin, signal in holds if pin not in CLEARS], through=False)
    return list(dict.fromkeys([*reviews, *(item.name for item in bits if item.name in clearing - setting)]))


def line_of(net: Net, name: str, pin: str = "") -> int:
    """Return the line that wires a signal: to a pin of an op where given, else its writer's or its first end's."""
    signal = net.signals[name]
    ends = [link for link in signal.readers if pin and str(link.address) == pin]
    end = ends[0] if ends else signal.writer or (signal.links[0] if signal.links else None)
    return end.statement.line if end else 0


def setting_of(net: Net, instance: str) -> int:
    """Return the line that loads an instance."""
    return net.instances[instance].statement.line


def scores_of(inputs: Iterable[FreeInput], best: dict[str, float]) -> dict[str, float]:
    """Return the best value of each input that is a score of a cell: `dec_a3ee-scores-eff` has 1."""
    fields = {item.name: item.source.rpartition("-scores-")[2].rstrip(")") for item in inputs if "-scores-" in item.source}
    return {name: best[field] for name, field in fields.items() if field in best}
