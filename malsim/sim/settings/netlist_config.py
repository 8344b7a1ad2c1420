"""A scenario's netlist as settings: its text, what is fed to it from outside, whether its programs write claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from malsim.errors import ScenarioError
from malsim.moved import renamed
from malsim.netlist import NetlistError, parse, render
from malsim.netlist.graph.gather import gather
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.netlist.language.statements import Document, Wire
from malsim.netlist.wiring import linked
from malsim.netlist.wiring.blocks import inlined
from malsim.sim.record.observables import OF_FACTS, TURN

if TYPE_CHECKING:
    from malsim.netlist.wiring import Net

__all__ = ["Input", "NetlistConfig"]

RESERVED = frozenset((*OF_FACTS, *TURN, "waiting"))


@dataclass(frozen=True, slots=True)
class Input:
    """What someone outside puts on a signal that nothing writes, or on a pin of the loop, from a time (ms) on."""

    signal: str
    at: int
    value: float


@dataclass(frozen=True, kw_only=True)
class NetlistConfig:
    """A netlist that runs inside the tick of a scenario.

    `derive` has what its standing programs find proposed to the gate. `inputs` hold until the next of the same signal. What
    is wrong with the netlist is told when it is made, all of it, as a `NetlistError`.
    """

    document: Document
    derive: bool = False
    inputs: tuple[Input, ...] = ()
    net: Net = field(init=False, compare=False, repr=False)

    @classmethod
    def of(cls, text: str, *, file: str = "netlist", derive: bool = False, inputs: tuple[Input, ...] = ()) -> NetlistConfig:
        """The wires that a text says."""
        return cls(document=parse(text, file=file), derive=derive, inputs=inputs)

    def __post_init__(self) -> None:
        net, faults = linked(self.document)
        faults += gather(self.document.statements).faults
        faults += [_taken(wire) for wire in self.document.statements if isinstance(wire, Wire) and wire.signal in RESERVED]
        if faults:
            raise NetlistError(faults)
        object.__setattr__(self, "net", net)
        for given in self.inputs:
            self.check(given)

    @cached_property
    def text(self) -> str:
        """The netlist with all it sources and the blocks beside it, in canonical form."""
        document = inlined(self.document)[0] if self.document.blocks else self.document
        return render(document).lstrip("\n")

    @cached_property
    def pins(self) -> dict[str, str]:
        """The signal on each pin."""
        return self.net.pins

    def check(self, given: Input) -> None:
        """Raise `ScenarioError` for an input that nothing in the net takes, or of another type."""
        signal = self.net.signals.get(given.signal)
        free = {name for name, one in self.net.signals.items() if one.writer is None and one.domain == "run"}
        kind = signal.type if signal and given.signal in free else LOOP_WRITES.get(given.signal, ("",))[0]
        if not kind:
            allowed = " ".join([*sorted(free), *LOOP_WRITES])
            raise ScenarioError(
                "nothing in the netlist takes this input", where="signal", given=given.signal, allowed=allowed
            )
        if (kind == "bit" and given.value not in (0, 1)) or (kind == "int" and given.value != round(given.value)):
            allowed = "true or false" if kind == "bit" else "a whole number"
            raise ScenarioError("not a value of this signal", where="value", given=given.value, allowed=allowed)


def _taken(wire: Wire) -> Fault:
    hint = "take another name; a run records a signal of its own under this one"
    return Fault.at(wire, wire.signal, "this name is taken", hint=hint)


__getattr__ = renamed(__name__, {"Wires": "NetlistConfig"})
