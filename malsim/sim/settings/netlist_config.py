"""A scenario's netlist as settings: its text, what is fed to it from outside, whether its programs write claims."""

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
from malsim.sim.context.observables import CONTEXT, OF_FACTS, TURN

if TYPE_CHECKING:
    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring import Net
    from malsim.sim.settings.reader import Reader

READER_OP = "reader-op-"


class ReaderOp(NamedTuple):
    """Kind of op that a reader writes: when it is written, its level with the setting for it, and its wiring.

    `fires` is the suffix, after the op's name, of the signal that is true while the op fires.
    """

    says: str
    level: tuple[str, str]
    fires: str
    wiring: tuple[str, ...]


READER_OPS = {
    "watch": ReaderOp("a cell at rest: fires below a level", ("below", "watch_below"), "low", (
        "loadrt watch names={op}",
        "net {op}-eff {op}.in < {cell}-scores-eff",
        "net {op}-low {op}.below > {cell}-flags-review",
        "setp {op}.level {watch_below:g}",
        "addf {op} tick",
    )),
    "drift": ReaderOp("a cell that an active one contradicts: fires where it left what it was when read last",
                      ("beyond", "drift_beyond"), "moved", (
        "loadrt drift names={op}-drift",
        "net {op}-disputed {op}-drift.in < {cell}-scores-eff",
        "net {op}-taken {op}-drift.capture {op}-trend.reset",
        "net {op}-moved {op}-drift.drifted > {cell}-flags-review",
        "setp {op}-drift.limit {drift_beyond:g}",
        "addf {op}-drift tick",
    )),
    "trend": ReaderOp("a cell whose effective moved while it was read: fires while it falls, since it was read last",
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
    """Input from outside: from `at` (ms) on, an undriven signal or a pin of the loop has this value."""

    signal: str
    at: int
    value: float


@dataclass(frozen=True, kw_only=True)
class NetlistConfig:
    """Netlist that runs inside the tick of a scenario.

    With `derive`, findings of its standing programs are proposed to the gate. `inputs` hold until the next input of the
    same signal. The constructor raises all errors of the netlist as one `NetlistError`.
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
        for given in self.inputs:
            self.check(given)

    @cached_property
    def text(self) -> str:
        document = inlined(self.document)[0] if self.document.blocks else self.document
        return render(document).lstrip("\n")

    @cached_property
    def pins(self) -> dict[str, str]:
        return self.net.pins

    def check(self, given: Input) -> None:
        """Raise `ScenarioError` for an input that no signal or pin takes, or of the wrong type."""
        signal = self.net.signals.get(given.signal)
        free = {name for name, item in self.net.signals.items() if item.writer is None and item.domain == "run"}
        kind = signal.type if signal and given.signal in free else LOOP_WRITES.get(given.signal, ("",))[0]
        if not kind:
            problem, allowed = "nothing in the netlist takes this input", " ".join([*sorted(free), *LOOP_WRITES])
            raise ScenarioError(problem, where="signal", given=given.signal, allowed=allowed)
        if (kind == "bit" and given.value not in (0, 1)) or (kind == "int" and given.value != round(given.value)):
            allowed = "true or false" if kind == "bit" else "a whole number"
            raise ScenarioError("not a value of this signal", where="value", given=given.value, allowed=allowed)


def op_name(place: int) -> str:
    """Return the name of the op in a slot that a reader may wire.

    >>> op_name(0), op_cell(0)
    ('reader-op-1', 'prg_reader_0001')
    """
    return f"{READER_OP}{place + 1}"


def op_cell(place: int, kind: str = "watch") -> str:
    """Return the handle that the op in a slot reads until a reader wires it to a cell; no cell has this handle."""
    return f"prg_{'reader' if kind == 'watch' else kind}_{place + 1:04x}"


def with_reader_ops(wires: NetlistConfig | None, reader: Reader | None) -> NetlistConfig | None:
    """Return the netlist with the ops that a reader may wire to cells.

    Each slot has one op of each kind of `READER_OPS`, which asks for a review of its cell while it fires. The ops are
    loaded and scheduled, and read nothing until a reader wires them.
    """
    before = wires.document.statements if wires else ()
    own = tuple(statement for statement in before if not _is_readers(statement))
    if reader is None or not reader.policy.wires:
        return wires if len(own) == len(before) else _with(wires, own) if own else None
    lines = []
    for index in range(int(reader.ops)):
        for kind, item in READER_OPS.items():
            given = {item.level[1]: getattr(reader, item.level[1]), "op": op_name(index), "cell": op_cell(index, kind)}
            lines += [line.format(**given) for line in item.wiring]
    return _with(wires, (*own, *parse("\n".join(lines), file="the reader's ops").statements))


def _with(wires: NetlistConfig | None, statements: tuple[Statement, ...]) -> NetlistConfig:
    wires = wires or NetlistConfig.of("")
    return replace(wires, document=replace(wires.document, statements=statements))


def _is_readers(one: Statement) -> bool:
    names = one.names if isinstance(one, Load) else [getattr(one, name, "") for name in ("signal", "address", "op")]
    return any(name.startswith(READER_OP) for name in names)


def _fault(wire: Wire) -> Fault:
    hint = "take another name; a run records a signal of its own under this one"
    return Fault.at(wire, wire.signal, "this name is already used", hint=hint)
