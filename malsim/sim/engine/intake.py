"""Numbering of writers, facts and values, and an inbox that merges posted claims into one batch in gate order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate.admit import screened
from malsim.memory.gate.checks import validate
from malsim.memory.port import Claims, Edges, Vocabulary
from malsim.memory.schema import NONE
from malsim.sim.world.clock import DAY, milliseconds
from malsim.sim.world.correction import JOB
from malsim.sim.writers.engine.claim_batch import ClaimBatch

if TYPE_CHECKING:
    from malsim.memory import Memory
    from malsim.memory.gate.claims import Validated
    from malsim.memory.graph.arrays import Ints
    from malsim.sim.engine.populations import Populations
    from malsim.sim.settings.scenario import Scenario


class Intake:
    """Numbering of writers, facts and values: first the names from the world, then names used only in scripted claims.

    A scripted claim without an object is about itself: its handle, key or title. A scripted claim without a value states
    its title. Values stated only by users' processes have no number, so only a claim graph can store them.
    """

    def __init__(self, scenario: Scenario, populations: Populations) -> None:
        facts, scripted, templates = scenario.facts, scenario.claims, populations.templates
        self._templates, self._about = templates, populations.about
        self._rules, self._first = scenario.rules, templates.first
        self._external = templates.external
        self._objects = {fact.name: index for index, fact in enumerate(facts)}
        self._writers = {name: index for index, name in enumerate(templates.writers.to_list())}
        self._values: list[dict[float | str, int]] = [{fact.number(v): v for v in range(len(fact.values))} for fact in facts]
        labels: list[list[float | str]] = [list(fact.values) for fact in facts]
        for writer, about_what, says in _statements(scripted):
            self._writers.setdefault(writer, len(self._writers))
            index = self._objects.setdefault(about_what, len(self._objects))
            if index == len(labels):
                labels.append([])
                self._values.append({})
            if says not in self._values[index]:
                self._values[index][says] = len(labels[index])
                labels[index].append(says)
        others = [*(process.name for process in scenario.processes), *(correction.by for correction in scenario.corrections)]
        for name in others + [JOB] * bool(scenario.resettles):
            self._writers.setdefault(name, len(self._writers))
        lineages = populations.lineages
        kin = [lineages.get(name, "") for name in self._writers] if lineages else ()
        owners = {fact.name: fact.scope for fact in facts if fact.scope}
        scopes = [owners.get(name, "") for name in self._objects] if owners else ()
        self.vocabulary = Vocabulary(list(self._writers), list(self._objects), labels, kin, scopes)
        names = np.array(list(self._writers), dtype=object)
        self._rank = np.argsort(np.argsort(names, kind="stable"), kind="stable")

    def claims(self, drafts: ClaimBatch, scripted: pl.DataFrame | None, *, checked: bool) -> tuple[Claims, Ints]:
        """Merge drafts, already in gate order, with scripted claims. Also return each claim's row in the drafts, or NONE.

        With `checked`, claims for a graph include the results of earlier checks of their texts.
        """
        about = self._about[drafts.form]
        columns: dict[str, Any] = {
            "rep": drafts.rep, "t": drafts.t / DAY, "writer": drafts.who, "sequence": drafts.turn, "stated": drafts.stated,
            "object": np.where(about, drafts.fact, NONE), "value": np.where(about, drafts.value, NONE),
            "verified": self._external[drafts.form],
        }  # fmt: skip
        index, line = np.arange(len(drafts)), np.full(len(drafts), NONE)
        if scripted is not None:
            numbers = self._numbers(scripted)
            columns = {name: np.concatenate([column, numbers[name]]) for name, column in columns.items()}
            order = np.lexsort((columns["sequence"], self._rank[columns["writer"]], columns["t"]))
            columns = {name: column[order] for name, column in columns.items()}
            index = np.where(order < len(drafts), order, NONE)
            line = np.where(order < len(drafts), NONE, order - len(drafts))
        return Claims(
            **columns,
            edges=self._edges(drafts, scripted, index),
            words=lambda: _NO_CLAIMS if scripted is None else scripted,
            scripted=line,
            checked=(lambda memory: self._checked(drafts, scripted, memory)) if checked else None,
        ), index

    def _edges(self, drafts: ClaimBatch, scripted: pl.DataFrame | None, draft_row: Ints) -> Edges:
        if scripted is None:
            return Edges(claim=drafts.claim, relation=drafts.relation, target=drafts.target, mutual=drafts.mutual)
        from_draft = np.flatnonzero(draft_row != NONE)
        position = np.full(len(drafts), NONE)
        position[draft_row[from_draft]] = from_draft
        named = np.repeat(np.flatnonzero(draft_row == NONE), scripted["edges"].list.len().fill_null(0).to_numpy())
        nowhere = np.full(len(named), NONE)
        return Edges(
            claim=np.append(position[drafts.claim], named), relation=np.append(drafts.relation, nowhere),
            target=np.append(drafts.target, nowhere), mutual=np.append(drafts.mutual, np.zeros(len(named), dtype=bool)),
        )  # fmt: skip

    def _checked(self, drafts: ClaimBatch, scripted: pl.DataFrame | None, memory: Memory) -> Validated:
        claims = self._templates.claims(drafts, memory)
        if scripted is not None:
            claims, _ = claims.joined(claims, screened(validate(scripted, self._rules), self._rules))
        return claims

    def _numbers(self, scripted: pl.DataFrame) -> dict[str, Any]:
        rows = [(self._writers[who], self._objects.get(about, NONE), says) for who, about, says in _statements(scripted)]
        return {
            "rep": scripted["rep"].to_numpy() - self._first,
            "t": scripted["t"].to_numpy(),
            "writer": np.array([writer for writer, _, _ in rows], dtype=np.int64),
            "sequence": scripted["sequence"].to_numpy(),
            "verified": (scripted["verification"].fill_null("") == "external").to_numpy(),
            "stated": scripted["confidence"].cast(pl.Float64).fill_null(np.nan).to_numpy(),
            "object": np.array([index for _, index, _ in rows], dtype=np.int64),
            "value": np.array(
                [NONE if index == NONE else self._values[index].get(says, NONE) for _, index, says in rows], dtype=np.int64
            ),
        }


def _statements(scripted: pl.DataFrame) -> list[tuple[str, str, float | str]]:
    about = pl.coalesce("object", "handle", "key", "title", pl.lit(""))
    columns = scripted.select(
        pl.col("writer").fill_null(_NOBODY), about.alias("about"), "value", pl.col("title").fill_null("")
    )
    return [(writer, name, title if value is None else value) for writer, name, value, title in columns.rows()]


_NO_CLAIMS = pl.DataFrame(schema=schema.CLAIMS)
_NOBODY = "\U0010ffff"  # sorts last, so that the gate refuses claims without a writer after all others


class Inbox:
    """Inbox of claims that wait for the gate. The order in which claims are posted does not affect the batches."""

    def __init__(self) -> None:
        self._posted: list[pl.DataFrame] = []
        self._drafts: list[ClaimBatch] = []

    def post(self, claims: pl.DataFrame) -> None:
        self._posted.append(claims)

    def draft(self, drafts: ClaimBatch) -> None:
        self._drafts.append(drafts)

    def drain(self, before: float) -> tuple[pl.DataFrame | None, ClaimBatch]:
        drafts = ClaimBatch.joined(self._drafts)
        arrived = drafts.t < milliseconds(before)
        self._drafts = []
        if not arrived.all():
            self._drafts = [drafts.rows(np.flatnonzero(~arrived))]
            drafts = drafts.rows(np.flatnonzero(arrived))
        if not self._posted:
            return None, drafts
        waiting = pl.concat(self._posted)
        due = waiting["t"] < before
        late = waiting.filter(~due)
        self._posted = [late] if late.height else []
        return waiting.filter(due) if due.any() else None, drafts

    def __len__(self) -> int:
        return sum(frame.height for frame in self._posted) + sum(len(drafts) for drafts in self._drafts)
