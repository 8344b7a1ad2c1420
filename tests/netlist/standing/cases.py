"""Two streams for each standing signal: one on which the signal must fire, and a similar one on which it must not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.netlist.standing.streams import Edit, Events, cell, merged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["CASES", "ONSET", "Case"]

ONSET = 10
BEL = "bel_a001"
Day: TypeAlias = "list[str | Edit]"


@dataclass(frozen=True)
class Case:
    fault: Mapping[int, Sequence[str | Edit]]
    benign: Mapping[int, Sequence[str | Edit]]
    target: str = BEL
    start: Mapping[int, Sequence[str | Edit]] | None = None


def _from(number: str, many: int, relation: str, *, target: str = BEL, conf: float = 0.9, **props: Any) -> Day:
    return [
        cell(f"obs_{number}{index:02x}", f"{relation}> {target}", conf=conf, **{"writer": f"v{index}", **props})
        for index in range(many)
    ]


def _against(number: str, many: int, *, weight: float = -0.8, target: str = BEL, **props: Any) -> Day:
    return _from(number, many, "contradicts", target=f"{target}({weight})", **props)


def _for(number: str, many: int, *, weight: float = 0.8, target: str = BEL, **props: Any) -> Day:
    return _from(number, many, "supports", target=f"{target}({weight})", **props)


def _at(*events: str | Edit, day: int = ONSET) -> Events:
    return {day: list(events)}


def _daily(days: int, *events: Sequence[str | Edit], step: int = 1) -> Events:
    return {ONSET + step * index: list(events[index]) for index in range(min(days, len(events)))}


def _with(**props: Any) -> Events:
    return {0: [cell(BEL, conf=0.8, writer="ann", **props)]}


PLAIN = _with()
FIVE = {0: [cell(BEL, conf=0.8, writer="ann"), *_for("b0", 5, conf=0.6)]}
DOC = cell("ref_d0c1", writer="doc")
CHAIN = {0: [cell(f"obs_c0{n:02x}", *([f"supports> obs_c0{n - 1:02x}(.3)"] if n else []), writer="ann") for n in range(9)]}
CLIQUE: Day = [
    cell(BEL, writer="ann"),
    cell("bel_a002", f"supports> {BEL}(.2)", writer="ann"),
    cell("bel_a003", f"supports> {BEL}(.2)", "supports> bel_a002(.2)", writer="ann"),
    cell("bel_a004", f"supports> {BEL}(.2)", "supports> bel_a002(.2)", "supports> bel_a003(.2)", writer="ann"),
]
STAR: Day = [cell(BEL, writer="ann"), *_for("b0", 3, conf=0.5)]
HEIR: Day = [cell("bel_a002", writer="ann"), Edit(BEL, {"status": "superseded", "successor": "bel_a002"})]


def _versions(currency: float) -> Day:
    """Return four versions of a belief; each version except the last is superseded by the next."""
    old = [
        cell(f"bel_e00{n}", line=f"curr({currency})", status="superseded", successor=f"bel_e00{n + 1}", version=n)
        for n in range(1, 4)
    ]
    return [*old, cell("bel_e004", version=4)]


def _task(number: int, **props: Any) -> str:
    return cell(f"tsk_{number:04x}", writer="ann", **props)


def _reads(handles: list[str], day: int, seed: float) -> Day:
    return [Edit(handle, {"read": float(day), "salience_seed": seed}) for handle in handles]


def _from_documents(number: str, docs: Sequence[int]) -> Day:
    """Return cells by one writer, each of which is derived from one of up to five documents."""
    origins = [f"derived_from> ref_d0c{doc % 5}(0)" for doc in docs]
    return [cell(f"obs_{number}{index:02x}", origin, writer="mono") for index, origin in enumerate(origins)]


MONO = ["obs_5501", "obs_5502", "obs_5503"]
HITS = [f"obs_6{n:03x}" for n in range(4)]
NEEDS = {0: [_task(0xA1), _task(0xA2), cell("tsk_00ff", "depends_on> tsk_00a1(0)", "depends_on> tsk_00a2(0)", writer="ann")]}
GOAL: Day = [
    *(_task(n) for n in range(0xB1, 0xB5)),
    cell("obj_00ff", *(f"depends_on> tsk_00b{n}(0)" for n in range(1, 5)), writer="ann", created=ONSET),
]
ZED = [f"bel_f00{n}" for n in range(5)]
ZEDS = {0: [cell(handle, conf=0.95, writer="zed") for handle in ZED]}
THREE = [f"bel_7{n}01" for n in range(3)]
AGREED = {
    0: [cell(belief, writer="ann") for belief in THREE]
    + [x for n, belief in enumerate(THREE) for x in _for(f"7{n}", 3, target=belief)]
}
ODD = [cell("obs_0dd1", *(f"contradicts> {belief}(-.5)" for belief in THREE), writer="odd")]
EVEN = [cell("obs_0dd1", *(f"supports> {belief}(.5)" for belief in THREE), writer="odd")]
REVIEWED = {
    0: [cell(belief, writer="ann") for belief in ZED]
    + [x for n, belief in enumerate(ZED) for x in _against(f"8{n}", 3, target=belief)]
}


def _flags(value: bool) -> Day:  # noqa: FBT001
    return [Edit(handle, {"requires_review": value}) for handle in ZED]


CASES: dict[str, Case] = {
    "contradiction-load": Case(_at(*_against("b1", 3)), _at(*_for("b1", 2), *_against("b2", 1, weight=-0.4)), start=PLAIN),
    "contradiction-acceleration": Case(
        _at(*_against("b1", 3)), _daily(3, *(_against(f"b{n}", 1) for n in range(3)), step=3), start=PLAIN
    ),
    "effective-momentum": Case(_at(*_against("b1", 2)), _at(*_for("b1", 3)), start=PLAIN),
    "confabulation-spike": Case(_at(Edit(BEL, {"stated": 0.3})), _at(*_against("b1", 3)), start=PLAIN),
    "corroboration-independence": Case(
        _at(DOC, *(cell(f"obs_b1{n:02x}", f"supports> {BEL}(.5)", "derived_from> ref_d0c1(0)",
        writer=f"v{n}") for n in range(3))),
        _at(*_for("b1", 3)), start=PLAIN,
    ),
    "checkpoint-freshness": Case(
        _at(*_against("b1", 1, weight=-0.3)), _at(*_for("b1", 2)), start=_with(verification="tested")
    ),
    "isolation-vs-anchor": Case(_at(cell(BEL, conf=0.9)), _at(cell(BEL, conf=0.9), *_for("b1", 2))),
    "cut-criticality": Case(_at(*STAR), _at(*CLIQUE)),
    "local-cluster-density": Case(_at(*CLIQUE), _at(*STAR), start=CHAIN),
    "dangling-supersession": Case(_at(*HEIR, Edit("bel_a002", {"status": "annexed"})), _at(*HEIR), start=PLAIN),
    "orphan-drift": Case(
        _daily(4, *([Edit(f"obs_b0{n:02x}", {"status": "annexed"})] for n in range(4))),
        _at(Edit("obs_b000", {"status": "annexed"}), *_for("b2", 1)), start=FIVE,
    ),
    "supersession-depth": Case(_at(*_versions(0.2)), _at(*_versions(0.95)), target="bel_e004"),
    "time-to-stale": Case(_at(cell(BEL, stability="ephemeral")), _at(cell(BEL, stability="stable"))),
    "staleness-under-demand": Case(
        _at(*_reads([BEL], ONSET, 0.95)), {}, start=merged(_with(touched=-35, created=-35), {0: _for("b9", 4)})
    ),
    "staleness-divergence": Case(
        _at(*_for("b1", 3)), _at(*_for("b1", 3, touched=0, created=0, stability="ephemeral")),
        start=_with(stability="ephemeral")
    ),
    "demand-acceleration": Case(
        {day: _reads([BEL], day, min(0.95, 0.1 * (day - 8))) for day in range(ONSET, ONSET + 9)}, {},
        start=_with(salience_seed=0.2)
    ),
    "citation-momentum": Case(
        _daily(6, *(_for(f"b{n}", 1, writer=f"v{n}") for n in range(6))),
        _daily(6, *(_for(f"b{n}", 1, writer="v0") for n in range(6))),
        start=PLAIN,
    ),
    "supply-demand-gap": Case(
        _at(cell(BEL, conf=0.2, topics="thin", demand=0.9)), _at(cell(BEL, conf=0.9, topics="thin", demand=0.3)),
        target="thin"
    ),
    "attention-monopoly": Case(
        _at(*_reads(MONO[:1], ONSET, 0.95)), _at(*_reads(MONO, ONSET, 0.95)), target="mono",
        start={0: [cell(belief, topics="mono", salience_seed=0.05) for belief in MONO]},
    ),
    "query-coherence": Case(
        _at(*(cell(belief, *([f"supports> {HITS[n - 1]}(.2)"] if n else []))
        for n, belief in enumerate(HITS)), *_reads(HITS, ONSET, 0.9)),
        _at(*map(cell, HITS), *_reads(HITS, ONSET, 0.9)), target="",
    ),
    "ready-gate": Case(
        _at(Edit("tsk_00a1", {"done": 1}), Edit("tsk_00a2", {"done": 1})), _at(Edit("tsk_00a1", {"done": 1})),
        target="tsk_00ff", start=NEEDS,
    ),
    "dependency-rot": Case(
        _at(Edit("tsk_00a1", {"status": "annexed"})),
        _at(_task(0xA3), Edit("tsk_00a1", {"status": "superseded", "successor": "tsk_00a3"})), target="tsk_00ff",
        start=NEEDS,
    ),
    "objective-burn-down": Case(
        _at(*GOAL), merged(_at(*GOAL), {ONSET + n: [Edit(f"tsk_00b{n}", {"done": 1})] for n in range(1, 5)}),
        target="obj_00ff"
    ),
    "task-staleness": Case(
        _at(_task(0xC1, touched=-2, created=-2)), _at(_task(0xC1, touched=-2, created=-2, done=1)), target="tsk_00c1"
    ),
    "risk-aging": Case(
        _at(cell("rsk_0001", concern=0.5, created=0)), _at(cell("rsk_0001", concern=0.5, created=0, mitigation=0.95)),
        target="rsk_0001",
    ),
    "allocation-pressure": Case(_at(_task(0xC1, impact=1, cost=0.1, novelty=0.9)), _at(_task(0xC1)), target="tsk_00c1"),
    "authority-skew": Case(
        _at(*(event for n, handle in enumerate(ZED) for event in _against(f"8{n}", 3, target=handle))),
        _at(*(event for n, handle in enumerate(ZED) for event in _for(f"8{n}", 3, target=handle))), target="zed", start=ZEDS,
    ),
    "calibration-drift": Case(
        {ONSET + 2 * n: _against(f"8{n}", 3, target=handle) for n, handle in enumerate(ZED)},
        {ONSET + 2 * n: _for(f"8{n}", 1, target=handle) for n, handle in enumerate(ZED)}, target="zed", start=ZEDS,
    ),
    "cross-writer-agreement": Case(_at(*ODD), _at(*EVEN), target="odd", start=AGREED),
    "provenance-diversity": Case(
        {ONSET + n: _from_documents(f"9{n}", [0] * 3) for n in range(6)},
        {ONSET + n: _from_documents(f"9{n}", range(n, n + 3)) for n in range(6)}, target="mono",
        start={0: [*(cell(f"ref_d0c{n}", writer="doc") for n in range(5)), *_from_documents("905", range(15))]},
    ),
    "specialisation": Case(
        _at(*(cell(f"obs_b3{n:02x}", writer="zed", topics="pumps") for n in range(6))),
        _at(*(cell(f"obs_b3{n:02x}", writer="zed", topics=f"t{n}") for n in range(6))), target="zed",
    ),
    "triage-rank": Case(_at(*_against("b1", 3)), _at(*_for("b1", 3)), start=_with(stability="volatile")),
    "actuator-arbitration": Case(
        _at(*_against("b1", 3)), _at(*_for("b1", 3, weight=0.1)),
        start={0: [cell(BEL, writer="ann"), *_for("b0", 1, weight=0.1)]}
    ),
    "compaction-pressure": Case(
        _at(*(cell(f"obs_{n:05x}") for n in range(1000))), _at(*(cell(f"obs_{n:05x}") for n in range(100))), target=""
    ),
    "reflex-meta-calibration": Case(
        merged(_at(*_flags(True), day=ONSET - 2), _at(*_flags(False))), _at(*_flags(True), day=ONSET - 2), target="",
        start=REVIEWED
    ),
    "edge-mis-wiring": Case(_at(*ODD), _at(*EVEN), target="obs_0dd1", start=AGREED),
}  # fmt: skip
