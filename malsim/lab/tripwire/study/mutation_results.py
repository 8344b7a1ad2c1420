"""Mutation testing of a tripwire: netlists with one small fault each, judged by the scenario's checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import MalsimError
from malsim.lab.tripwire.runs.observation import netlist_of
from malsim.netlist.language.facts import instances
from malsim.netlist.language.lexicon import ALARMS
from malsim.netlist.language.statements import Document, Load, Set, Wire
from malsim.netlist.language.values import days, number
from malsim.netlist.wiring import linked
from malsim.scenario.judge.judge import judge
from malsim.scenario.proof.prove import prove
from malsim.scenario.proof.questions.safety import safety
from malsim.scenario.proof.ticks.cut import both_nets, equal_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.tripwire.runs.observation import Observation
    from malsim.netlist.language.statements import End, Statement
    from malsim.netlist.wiring import Net
    from malsim.sim.run import Run
    from malsim.sim.settings.netlist_config import NetlistConfig

OPPOSITE = {"above": "below", "below": "above", "out": "out-not", "out-not": "out", "rose": "fell", "fell": "rose"}
DUAL = {f"{op}{size}": f"{other}{size}" for size in range(2, 6) for op, other in (("and", "or"), ("or", "and"))}
FACTORS = (0.8, 1.2)


@dataclass(frozen=True)
class Mutant:
    """Netlist with one injected fault: its kind, a description of the change (`what`), and the changed line."""

    kind: str
    what: str
    line: int
    document: Document


def mutants(document: Document, net: Net) -> list[Mutant]:
    """Return all mutants of a netlist that still link."""
    kinds = (_polarities, _missing_wires, _thresholds, _missing_latches)
    return [mutant for kind in kinds for mutant in kind(document, net) if not linked(mutant.document)[1]]


def _replaced(document: Document, old: Statement, *new: Statement) -> Document:
    statements: list[Statement] = []
    for statement in document.statements:
        statements += new if statement is old else [statement]
    return replace(document, statements=tuple(statements))


def _wires(document: Document, net: Net) -> Iterator[tuple[Wire, int, str, str]]:
    """Yield each wire end that is a pin, as (wire, index of the end, instance, pin)."""
    for statement in document.statements:
        for index, end in enumerate(statement.ends if isinstance(statement, Wire) else ()):
            owner, _, pin = end.address.rpartition(".")
            if owner in net.instances and pin in net.instances[owner].sheet.slots:
                yield statement, index, owner, pin  # type: ignore[misc]  # a statement with ends is a wire


def _with_end(wire: Wire, index: int, *end: End) -> Wire:
    """Return the wire with one end replaced, or removed if no new end is given."""
    return replace(wire, ends=(*wire.ends[:index], *end, *wire.ends[index + 1 :]))


def _polarities(document: Document, net: Net) -> Iterator[Mutant]:
    for wire, index, owner, pin in _wires(document, net):
        if pin in OPPOSITE and OPPOSITE[pin] in net.instances[owner].sheet.slots:
            other = f"{owner}.{OPPOSITE[pin]}"
            mutant = _replaced(document, wire, _with_end(wire, index, replace(wire.ends[index], address=other)))
            yield Mutant("polarity", f"{wire.signal} from {other} instead of {owner}.{pin}", wire.line, mutant)
    for load in document.statements:
        if isinstance(load, Load) and load.op in DUAL:
            mutant = _replaced(document, load, replace(load, op=DUAL[load.op]))
            change = f"{DUAL[load.op]} instead of {load.op} {','.join(instances(load))}"
            yield Mutant("polarity", change, load.line, mutant)


def _missing_wires(document: Document, net: Net) -> Iterator[Mutant]:
    for wire, index, owner, pin in _wires(document, net):
        if net.instances[owner].sheet.slots[pin].key in net.instances[owner].sheet.ins:
            rest = _with_end(wire, index)
            mutant = _replaced(document, wire, rest) if rest.ends else _replaced(document, wire)
            yield Mutant("wire", f"{wire.signal} no longer reaches {owner}.{pin}", wire.line, mutant)


def _thresholds(document: Document, net: Net) -> Iterator[Mutant]:
    """Yield two mutants per numeric setting: 20 % lower and 20 % higher. A setting of 0 becomes −0.2 and 0.2."""
    for statement in document.statements:
        if not isinstance(statement, Set):
            continue
        owner, _, pin = statement.address.rpartition(".")
        instance = net.instances.get(owner)
        slot = instance.sheet.slots.get(pin) if instance else None
        is_time = number(statement.value) is None
        value = days(statement.value) if is_time else number(statement.value)
        if slot is None or slot.pin.type != "float" or value is None:
            continue
        for factor in FACTORS:
            text = f"{value * factor if value else factor - 1:.6g}" + ("d" if is_time else "")
            mutant = _replaced(document, statement, replace(statement, value=text))
            yield Mutant("threshold", f"{owner}.{pin} at {text} instead of {statement.value}", statement.line, mutant)


def _missing_latches(document: Document, net: Net) -> Iterator[Mutant]:
    for load in document.statements:
        if not isinstance(load, Load) or load.op not in ALARMS or "set" not in net.instances[instances(load)[0]].sheet.slots:
            continue
        for name in instances(load):
            others = [other for other in instances(load) if other != name]
            passing = replace(load, op="reflex", names=(name,), count=None, sizes=(("inputs", 1),))
            table = Set(address=f"{name}.table", value="0x2", file=load.file, line=load.line)
            rest = [replace(load, names=tuple(others), count=None)] if others else []
            mutant = _with_gate(_replaced(document, load, *rest, passing, table), name)
            yield Mutant("latch", f"{name} does not latch", load.line, mutant)


def _with_gate(document: Document, name: str) -> Document:
    """Turn a former latch into a gate: wire `set` to the gate's input, and drop all other inputs and settings."""
    statements: list[Statement] = []
    for statement in document.statements:
        if isinstance(statement, Wire):
            ends = [
                replace(end, address=f"{name}.in-0") if end.address == f"{name}.set" else end
                for end in statement.ends
                if not end.address.startswith(f"{name}.") or end.address in (f"{name}.set", f"{name}.out")
            ]
            statements += [replace(statement, ends=tuple(ends))] if ends else []
        elif not (isinstance(statement, Set) and statement.address.startswith(f"{name}.")) or statement.value == "0x2":
            statements.append(statement)
    return replace(document, statements=tuple(statements))


SECONDS = 20.0
KINDS = {
    "kind": pl.String, "what": pl.String, "line": pl.Int64, "verdict": pl.String, "by": pl.String, "shows": pl.Boolean,
}  # fmt: skip


def mutation_results(base: Observation) -> pl.DataFrame:
    """Run every mutant of the scenario's netlist and judge it by the scenario's own checks.

    Returns
    -------
    pl.DataFrame
        kind, what, line, verdict, by, shows. `caught`: a check passes on the netlist and fails on the mutant, or a safety
        question is answered as sound for the netlist but not for the mutant. `equal`: the outputs of both are proved equal
        for all inputs. `crashed`: the run failed, or a check could not be judged. Otherwise `not caught`. `shows` is true
        if the alarm differed in the run.
    """
    scenario = base.scenario
    passing = {outcome.check.name for outcome in judge(scenario).outcomes if outcome.status == "pass"}
    config = netlist_of(scenario)
    all_mutants = mutants(config.document, config.net)
    rows = [_row(mutant, config, passing, base) for mutant in all_mutants]
    sound = _sound_questions(config.net) if any(row[3] == "not caught" for row in rows) else frozenset()
    if sound:
        rows = [_proved(row, mutant, config, sound) for row, mutant in zip(rows, all_mutants, strict=True)]
    return pl.DataFrame(rows, schema=KINDS, orient="row")


def _row(mutant: Mutant, config: NetlistConfig, passing: set[str], base: Observation) -> tuple[object, ...]:
    head = (mutant.kind, mutant.what, mutant.line)
    try:
        scenario = base.scenario.replace(netlist=replace(config, document=mutant.document))
    except MalsimError as problem:
        return (*head, "crashed", str(problem), None)
    judgement = judge(scenario)
    failed = [
        outcome.check.name for outcome in judgement.outcomes if outcome.status == "fail" and outcome.check.name in passing
    ]
    if failed:
        verdict, by = "caught", failed[0]
    elif judgement.status == "error":
        messages = (outcome.message for outcome in judgement.outcomes if outcome.status == "error")
        verdict, by = "crashed", judgement.error or next(messages)
    else:
        verdict, by = "not caught", ""
    return (*head, verdict, by, _alarm_differs(judgement.run, base))


def _sound_questions(net: Net) -> frozenset[str]:
    """Return the safety questions with the answer `sound`; empty if none can be asked (without a solver, for example)."""
    try:
        return frozenset(answer.question for answer in safety(net) if answer.status == "sound")
    except MalsimError:
        return frozenset()


def _proved(row: tuple[object, ...], mutant: Mutant, config: NetlistConfig, sound: frozenset[str]) -> tuple[object, ...]:
    """Return the row of a mutant, updated if a proof shows that the mutant is equivalent to the netlist or unsafe."""
    kind, what, line, verdict, by, shows = row
    if verdict == "not caught":
        net = replace(config, document=mutant.document).net
        try:
            proof = prove(both_nets(config.net, net), equal_outputs(config.net, net), timeout=SECONDS)
            flaws = sorted(sound - _sound_questions(net))
        except MalsimError:
            return row
        if proof.result == "proved":
            verdict, by = "equal", f"proof: {proof.verdict}"
        elif flaws:
            verdict, by = "caught", f"proof: {flaws[0]}"
    return kind, what, line, verdict, by, shows


def _alarm_differs(run: Run | None, base: Observation) -> bool | None:
    if run is None:
        return None
    original, mutated = (
        frame.filter(pl.col("signal") == base.name).select("t", "rep", "value") for frame in (base.run.signals, run.signals)
    )
    return not original.equals(mutated)
