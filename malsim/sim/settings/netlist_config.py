"""Settings of a scenario's netlist: its text, its external inputs, and the ops that readers may wire."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from malsim.base.errors import ScenarioError
from malsim.netlist import NetlistError, parse, render
from malsim.netlist.graph.gather import gather
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.netlist.language.statements import Document, Load, Wire
from malsim.netlist.wiring import linked
from malsim.netlist.wiring.blocks import inlined
from malsim.sim.context.turn import CONTEXT, OF_FACTS, TURN

if TYPE_CHECKING:
    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring import Net
    from malsim.sim.settings.reader import Reader

READER_OP = "reader-op-"


class ReaderOp(NamedTuple):
    """Kind of op that a reader can write: its description, its level (pin and setting), and its wiring.

    `fires` is the suffix (after the op's name) of the signal that is true while the op fires.
    """

    says: str
    level: tuple[str, str]
    fires: str
    wiring: tuple[str, ...]


READER_OPS = {
    "watch": ReaderOp("for a cell at rest: fires below a level", ("below", "watch_below"), "low", (
        "loadrt watch names={op}",
        "net {op}-eff {op}.in < {cell}-scores-eff",
        "net {op}-low {op}.below > {cell}-flags-review",
        "setp {op}.level {watch_below:g}",
        "addf {op} tick",
    )),
    "drift": ReaderOp("for a contradicted cell: fires when effective has moved since the last read",
                      ("beyond", "drift_beyond"), "moved", (
        "loadrt drift names={op}-drift",
        "net {op}-disputed {op}-drift.in < {cell}-scores-eff",
        "net {op}-taken {op}-drift.capture {op}-trend.reset",
        "net {op}-moved {op}-drift.drifted > {cell}-flags-review",
        "setp {op}-drift.limit {drift_beyond:g}",
        "addf {op}-drift tick",
    )),
    "trend": ReaderOp("for a cell whose effective moves: fires while it has been falling since the last read",
                      ("falls", "falls_by"), "falls", (
        "loadrt trend names={op}-trend",
        "loadrt watch names={op}-fall",
        "net {op}-moving {op}-trend.in < {cell}-scores-eff",
        "net {op}-slope {op}-trend.slope > {op}-fall.in",
        "net {op}-falls {op}-fall.below > {cell}-flags-review",
        "setp {op}-fall.level -{falls_by:g}",
        "addf {op}-trend tick",
        "addf {op}-fall tick",
    )),
}  # fmt: skip
RESERVED = frozenset((*OF_FACTS, *TURN, *CONTEXT, "waiting"))


@dataclass(frozen=True, slots=True)
class Input:
    """External input that sets an undriven signal, or a loop pin such as `reviewer.ack`, to `value` from `at` (ms) on."""

    signal: str
    at: int
    value: float


@dataclass(frozen=True, kw_only=True)
class NetlistConfig:
    """Netlist that is scanned after every tick of a scenario.

    With `derive`, the findings of standing programs are proposed to the gate. An input stays in effect until the next input
    to the same signal. The constructor raises all errors of the netlist as one `NetlistError`.
    """

    document: Document
    derive: bool = False
    inputs: tuple[Input, ...] = ()
    net: Net = field(init=False, compare=False, repr=False)

    @classmethod
    def of(cls, text: str, *, file: str = "netlist", derive: bool = False, inputs: tuple[Input, ...] = ()) -> NetlistConfig:
        return cls(document=parse(text, file=file), derive=derive, inputs=inputs)

    def __post_init__(self) -> None:
        net, faults = linked(self.document)
        faults += gather(self.document.statements).faults
        faults += [_fault(wire) for wire in self.document.statements if isinstance(wire, Wire) and wire.signal in RESERVED]
        if faults:
            raise NetlistError(faults)
        object.__setattr__(self, "net", net)
        for external in self.inputs:
            self.check(external)

    @cached_property
    def text(self) -> str:
        document = inlined(self.document)[0] if self.document.blocks else self.document
        return render(document).lstrip("\n")

    @cached_property
    def pins(self) -> dict[str, str]:
        return self.net.pins

    def check(self, external: Input) -> None:
        """Raise `ScenarioError` if the netlist does not have this input or the value has the wrong type."""
        name, value = external.signal, external.value
        free = {name for name, signal in self.net.signals.items() if signal.writer is None and signal.domain == "run"}
        kind = self.net.signals[name].type if name in free else LOOP_WRITES.get(name, ("",))[0]
        if not kind:
            allowed = " ".join([*sorted(free), *LOOP_WRITES])
            raise ScenarioError("the netlist has no such input", where="signal", given=name, allowed=allowed)
        if (kind == "bit" and value not in (0, 1)) or (kind == "int" and value != round(value)):
            allowed = "true or false" if kind == "bit" else "a whole number"
            raise ScenarioError("the value has the wrong type for this signal", where="value", given=value, allowed=allowed)


def op_name(slot: int) -> str:
    """Return the name of the reader op in the given slot.

    >>> op_name(0), op_cell(0)
    ('reader-op-1', 'prg_reader_0001')
    """
    return f"{READER_OP}{slot + 1}"


def op_cell(slot: int, kind: str = "watch") -> str:
    """Return the placeholder handle that a slot's op reads until a reader wires the op to a real cell."""
    return f"prg_{'reader' if kind == 'watch' else kind}_{slot + 1:04x}"


def with_reader_ops(wires: NetlistConfig | None, reader: Reader | None) -> NetlistConfig | None:
    """Return the netlist extended by the ops that a reader may wire to cells.

    Each slot has one op of each kind in `READER_OPS`, which requests a review of its cell while it fires. The ops are
    loaded and scheduled, but read nothing until a reader wires them.
    """
    before = wires.document.statements if wires else ()
    others = tuple(statement for statement in before if not _is_reader_op(statement))
    if reader is None or not reader.policy.wires:
        return wires if len(others) == len(before) else _with(wires, others) if others else None
    lines = []
    for slot in range(int(reader.ops)):
        for kind, op in READER_OPS.items():
            values = {op.level[1]: getattr(reader, op.level[1]), "op": op_name(slot), "cell": op_cell(slot, kind)}
            lines += [line.format(**values) for line in op.wiring]
    return _with(wires, (*others, *parse("\n".join(lines), file="the reader's ops").statements))


def _with(wires: NetlistConfig | None, statements: tuple[Statement, ...]) -> NetlistConfig:
    wires = wires or NetlistConfig.of("")
    return replace(wires, document=replace(wires.document, statements=statements))


def _is_reader_op(line: Statement) -> bool:
    names = line.names if isinstance(line, Load) else [getattr(line, name, "") for name in ("signal", "address", "op")]
    return any(name.startswith(READER_OP) for name in names)


def _fault(wire: Wire) -> Fault:
    hint = "choose another name; runs record a signal under this name"
    return Fault.at(wire, wire.signal, "this name is already used", hint=hint)
