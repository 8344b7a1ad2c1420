"""A scenario's netlist as settings: its text, what is fed to it from outside, whether its programs write claims."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from malsim.errors import ScenarioError
from malsim.moved import renamed
from malsim.netlist import NetlistError, parse, render
from malsim.netlist.graph.gather import gather
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.netlist.language.statements import Document, Load, Wire
from malsim.netlist.wiring import linked
from malsim.netlist.wiring.blocks import inlined
from malsim.sim.record.observables import OF_FACTS, SHOWN, TURN

if TYPE_CHECKING:
    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring import Net
    from malsim.sim.settings.reader import Reader

__all__ = ["Input", "NetlistConfig", "op_cell", "op_name", "with_reader_ops"]

READER_OP = "reader-op-"
RESERVED = frozenset((*OF_FACTS, *TURN, *SHOWN, "waiting"))


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


def op_name(place: int) -> str:
    """What the op at a place is called that a reader may wire.

    >>> op_name(0), op_cell(0)
    ('reader-op-1', 'prg_reader_0001')
    """
    return f"{READER_OP}{place + 1}"


def op_cell(place: int) -> str:
    """The handle that such an op reads: no cell's own, until a reader wires it to one."""
    return f"prg_reader_{place + 1:04x}"


def with_reader_ops(wires: NetlistConfig | None, reader: Reader | None) -> NetlistConfig | None:
    """The netlist with the ops that a reader may wire to cells, and none that another might.

    Each is a watch on a cell's effective, which asks for a review of that cell while it is low. They are loaded and
    scheduled, and read nothing until a reader wires them.
    """
    before = wires.document.statements if wires else ()
    own = tuple(one for one in before if not _is_readers(one))
    if reader is None or not reader.policy.wires:
        return wires if len(own) == len(before) else _with(wires, own) if own else None
    lines = []
    for place in range(int(reader.ops)):
        op, handle = op_name(place), op_cell(place)
        lines += [
            f"loadrt watch names={op}",
            f"net {op}-eff {op}.in < {handle}-scores-eff",
            f"net {op}-low {op}.below > {handle}-flags-requires_review",
            f"setp {op}.level {reader.watch_below:g}",
            f"addf {op} tick",
        ]
    return _with(wires, (*own, *parse("\n".join(lines), file="the reader's ops").statements))


def _with(wires: NetlistConfig | None, statements: tuple[Statement, ...]) -> NetlistConfig:
    wires = wires or NetlistConfig.of("")
    return replace(wires, document=replace(wires.document, statements=statements))


def _is_readers(one: Statement) -> bool:
    """Whether a statement is of an op that a reader may wire."""
    names = one.names if isinstance(one, Load) else [getattr(one, name, "") for name in ("signal", "address", "op")]
    return any(name.startswith(READER_OP) for name in names)


def _taken(wire: Wire) -> Fault:
    hint = "take another name; a run records a signal of its own under this one"
    return Fault.at(wire, wire.signal, "this name is taken", hint=hint)


__getattr__ = renamed(__name__, {"Wires": "NetlistConfig"})
