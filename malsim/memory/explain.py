"""Explanations of a cell's effective confidence: its terms, the cells that contribute to it, and what would overturn it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.plain_text import listed, one_line, quoted
from malsim.memory import law
from malsim.memory.law_steps import present
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.memory.graph.claim_graph import Memory

OVERTURNED = 0.5
MOST_READERS = 8
_REST = {
    "clamp": "kept within 0 and 1", "since": "and changes since the last tick",
    "held": "held at its value when it was last active",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Explanation of a cell's effective confidence on day `t`.

    `terms` (name, value) sum exactly to `effective`, from left to right. `contributions` has one row per edge with a
    weight: source, relation, weight, the source's `worth`, mass, term, and share (the edge's part of the term, in
    proportion to mass). `record` is the writer's record: claims (outcomes), contradicted, factor, and the number of
    outcomes needed for a factor other than 1. `overturned_by` is the additional challenge mass that takes the cell below
    0.5: None if no mass can, 0 if it is below already. For a recorded run, `moved` is the last cause of a change, and
    `read_by` lists the checks and wires that read the value (kind, name, address, place).
    """

    handle: str
    title: str
    t: float
    effective: float
    terms: pl.DataFrame
    contributions: pl.DataFrame
    record: dict[str, float]
    overturned_by: float | None
    moved: str = ""
    read_by: pl.DataFrame | None = None

    @property
    def why(self) -> str:
        """Sentence that explains the cell's effective confidence."""
        values = dict(self.terms.rows())
        if math.isnan(self.effective):
            return f"{self.handle} has no known worth on day {self.t:g}: no confidence was stated."
        parts = [
            f"{self.handle} is worth {self.effective:.2f} on day {self.t:g}: {values['stated × calibration']:.2f} as stated"
        ]
        for term, word, sign in (("support", "support by", "plus"), ("challenge", "a challenge by", "less")):
            if values[term] != 0.0:
                edges = self.contributions.filter(pl.col("share") != 0.0).filter(pl.col("term") == term)
                sources = edges.sort(pl.col("mass"), descending=True)["source"].unique(maintain_order=True).to_list()
                parts.append(f"{sign} {abs(values[term]):.2f} for {word} {listed(sources)}")
        parts += [phrase for term, phrase in _REST.items() if values.get(term, 0.0) != 0.0]
        return ", ".join(parts) + (f"; {self.moved}." if self.moved else ".")

    def __str__(self) -> str:
        lines = [f"{self.handle} {quoted(self.title)} on day {self.t:g}"]
        lines += [f"  {name:<22} {_signed(value)}" for name, value in self.terms.rows()]
        lines.append(f"  {'= effective':<22} {_signed(self.effective)}")
        for row in self.contributions.sort(pl.col("share").abs(), descending=True, maintain_order=True).to_dicts():
            lines.append(
                f"  {row['relation']:>12} from {row['source']} weight {row['weight']:+.2f}"
                f" × worth {_signed(row['worth'], '.3f')}"
                f" → {_signed(row['share'])}"
            )
        if self.moved:
            lines.append(f"  {self.moved}")
        record = self.record
        lines.append(
            f"  writer's record: {record['contradicted']:g} of {record['claims']:g} wrong, factor {record['factor']:.3f}"
            + (f", which counts from {record['needed']:g} outcomes on" if record["claims"] < record["needed"] else "")
        )
        lines.append(f"  overturned by: {self.overturn}")
        if self.read_by is not None:
            lines.append(f"  read by: {_reader_list(self.read_by)}")
        return "\n".join(lines)

    @property
    def overturn(self) -> str:
        """Challenge that would take the cell's effective confidence below 0.5, as text."""
        if self.overturned_by is None:
            return f"nothing can take it below {OVERTURNED}"
        if self.overturned_by == 0.0:
            return f"it is below {OVERTURNED} already"
        count = math.ceil(self.overturned_by)
        example = f"{count} contradictions by cells worth 1" if count > 1 else "one contradiction by a cell worth that much"
        return f"a further challenge of mass {self.overturned_by:.3f}, such as {example}"


@dataclass(frozen=True, kw_only=True)
class LawExplanation:
    """Explanation of a belief on day `t` under a law that scores items.

    `evidence` has one row per part: term, cell and writer (null if the part has none), and log_odds. `terms` (term, value)
    sum to `effective` (to 1e-15): the belief without evidence (`nothing`), then each part's share of the rest, in
    proportion to its log odds. `chain` describes how the sum of log odds becomes the belief, and `records` the number of
    claims behind each writer's record.
    """

    handle: str
    title: str
    t: float
    effective: float
    nothing: float
    evidence: pl.DataFrame
    chain: str
    records: tuple[str, ...] = ()
    moved: str = ""
    read_by: pl.DataFrame | None = None

    @property
    def contributions(self) -> pl.DataFrame:
        """Contributing claims, with columns source, writer, log_odds, and share (in units of effective confidence)."""
        shares = self.evidence.with_columns(share=self.terms["value"].tail(self.evidence.height))
        return shares.filter(pl.col("cell").is_not_null()).select(
            pl.col("cell").alias("source"), "writer", "log_odds", "share"
        )

    @property
    def terms(self) -> pl.DataFrame:
        """Terms of the belief and their values, in units of effective confidence."""
        parts, total = self.evidence["log_odds"], float(self.evidence["log_odds"].sum())
        scale = (self.effective - self.nothing) / total if total else 0.0
        values = [self.nothing, *(parts * scale).to_list()]
        values[-1] = _remainder(values[:-1], self.effective)
        names = ["no evidence", *(self._summand(row) for row in self.evidence.rows(named=True))]
        return pl.DataFrame({"term": names, "value": values})

    @property
    def why(self) -> str:
        """Sentence that explains the belief."""
        moved = f"; {self.moved}" if self.moved else ""
        if self.evidence.is_empty():
            return f"{self.handle} is no longer believed on day {self.t:g}: {self.chain}{moved}."
        parts = self.evidence.filter(pl.col("log_odds").abs() > 0.0).sort(pl.col("log_odds").abs(), descending=True)
        summands = [f"{row['log_odds']:+.2f} {self._summand(row)}" for row in parts.rows(named=True)]
        odds = f", of log odds {listed(summands)}" if summands else ""
        return f"{self.handle} is believed to {self.effective:.2f} on day {self.t:g}{odds}{moved}."

    def __str__(self) -> str:
        odds, terms = self.evidence["log_odds"].to_list(), self.terms
        rows = [("", "log odds", "worth")]
        pairs = zip([None, *odds], terms.rows(), strict=True)
        rows += [(name, _signed(log_odds), _signed(value)) for log_odds, (name, value) in pairs]
        rows.append(("= effective", _signed(float(sum(odds))), _signed(self.effective)))
        width = max(len(name) for name, _, _ in rows)
        lines = [f"{self.handle} {quoted(self.title)} on day {self.t:g}"]
        lines += [f"  {name:<{width}} {log_odds:>9} {value:>9}" for name, log_odds, value in rows]
        return "\n".join([*lines, *(f"  {text}" for text in (self.chain, *map(one_line, self.records), self.moved) if text)])

    def _summand(self, row: dict[str, object]) -> str:
        return str(row["term"]) if row["cell"] is None else one_line(f"{row['writer']} says {row['term']} ({row['cell']})")


def _remainder(parts: Iterable[float], total: float) -> float:
    """Return the number that brings the sum of the parts, added from left to right, to exactly `total`."""
    partial_sum = reduce(add, parts, 0.0)  # `sum` would compensate for rounding errors
    rest = total - partial_sum
    if partial_sum + rest != total:  # because of rounding, the sum can differ in the last bit
        rest = math.nextafter(rest, math.inf if partial_sum + rest < total else -math.inf)
    return rest


def rewritten_lines(updates: pl.DataFrame) -> list[str]:
    """Return one line of text per rewrite of a cell, with the day, the writer and the names of the rewritten fields."""
    times = updates.group_by("t", "writer", maintain_order=True).agg("field")
    return [
        f"  rewritten on day {t:g} by {'an unknown writer' if writer is None else one_line(writer)}: {', '.join(fields)}"
        for t, writer, fields in times.rows()
    ]


def _signed(value: float | None, form: str = "+.4f") -> str:
    return "–" if value is None or math.isnan(value) else format(value, form)


def _reader_list(readers: pl.DataFrame) -> str:
    names = [
        f"{kind} {quoted(name)}" if kind == "check" else f"{kind} {name}" + (f" ({index})" if index else "")
        for kind, name, index in readers.select("kind", "name", "place").head(MOST_READERS).rows()
    ]
    more = readers.height - len(names)
    return "; ".join([*names, *([f"and {more} more"] if more else [])]) or "no check and no wire"


def explain(memory: Memory, handle: str, *, t: float, rep: int = 0, rules: Rules | None = None) -> Explanation:
    """Explain a cell's effective confidence as a reader sees it (see `present`). The day `t` appears only in the text.

    Raises `AddressError` if there is no such cell.
    """
    rules = rules or Rules()
    row = memory.row(handle, rep=rep)
    now = present(memory, rules)
    memory, moved = now.memory, row in now.moved
    cell = memory.cells.row(row, named=True)
    edges = memory.edges.head(memory.scanned).filter((pl.col("target") == row) & (pl.col("weight") != 0.0))
    sources, worth = (memory.cells[name].gather(edges["source"]) for name in ("handle", "worth"))
    edges = edges.select(sources.alias("source"), pl.col("relation").cast(pl.String), "weight", worth)
    writer = memory.writers.row(cell["author"], named=True)
    if now.record and moved:
        writer |= {name: getattr(now.record, name)[cell["author"]] for name in ("claims", "contradicted")}
    return explain_row(cell, edges, writer, t=t, rules=rules)


def explain_row(
    cell: dict[str, object], edges: pl.DataFrame, writer: dict[str, object], *, t: float, rules: Rules
) -> Explanation:
    """Explain a cell from its row, its incoming edges (with the `worth` of each source cell) and its writer's record."""
    names = ("stated", "calibration", "support_mass", "challenge_mass", "effective")
    value = {name: math.nan if cell[name] is None else float(str(cell[name])) for name in names}
    if math.isnan(value["stated"]):
        terms = {"stated × calibration": math.nan, "support": 0.0, "challenge": 0.0}
    else:
        terms = _terms(value, rules, active=cell.get("status", "active") == "active")
    shares = edges.with_columns(mass=pl.col("weight").abs() * pl.col("worth")).with_columns(
        term=pl.when(pl.col("weight") > 0).then(pl.lit("support")).otherwise(pl.lit("challenge"))
    )
    by_term = {name: (terms[name], value[f"{name}_mass"]) for name in ("support", "challenge")}
    share = pl.col("term").replace_strict(
        {name: (term / mass if mass > 0 else 0.0) for name, (term, mass) in by_term.items()}, return_dtype=pl.Float64
    )
    return Explanation(
        handle=str(cell.get("handle", cell.get("cell"))), title=str(cell.get("title", "")), t=t,
        effective=value["effective"],
        terms=pl.DataFrame({"term": list(terms), "value": list(terms.values())}),
        contributions=shares.with_columns(share=pl.col("mass") * share).select(
            "source", "relation", "weight", "worth", "mass", "term", "share"
        ),
        record={name: float(str(writer[name])) for name in ("claims", "contradicted")}
        | {"factor": value["calibration"], "needed": float(rules.calibration_history)},
        overturned_by=_overturned_by(value, terms, rules),
    )  # fmt: skip


def _terms(value: dict[str, float], rules: Rules, *, active: bool) -> dict[str, float]:
    anchor, support, challenge = law.terms(
        *(np.array(value[name]) for name in ("stated", "calibration", "support_mass", "challenge_mass")),
        tanh=np.tanh,
        **law.ceilings(rules),
    )
    terms = {"stated × calibration": float(anchor), "support": float(support), "challenge": -float(challenge)}
    raw = float(anchor + support - challenge)
    clamped = min(1.0, max(0.0, raw))
    if clamped != raw:
        terms["clamp"] = clamped - raw
    if value["effective"] != clamped:
        formula = rules.effective if isinstance(rules.effective, str) else "your formula" if rules.effective else ""
        name = (formula or ("damping" if rules.damping < 1.0 else "since")) if active else "held"
        terms[name] = _remainder(terms.values(), value["effective"])
    return terms


def _overturned_by(value: dict[str, float], terms: dict[str, float], rules: Rules) -> float | None:
    if math.isnan(value["effective"]):
        return None
    if value["effective"] < OVERTURNED:
        return 0.0
    excess, ceiling = terms["stated × calibration"] + terms["support"] - OVERTURNED, rules.challenge_ceiling
    if not ceiling or excess / ceiling >= 1.0:
        return None
    return max(0.0, math.atanh(max(0.0, excess / ceiling)) - value["challenge_mass"])
