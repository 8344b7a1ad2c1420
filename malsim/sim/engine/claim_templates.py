"""Conversion of drafts into claims whose texts the gate has already checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.finite import FARTHEST
from malsim.memory import schema
from malsim.memory.gate import checks
from malsim.memory.gate.admit import screened
from malsim.memory.gate.batch import all_differ
from malsim.memory.gate.checks import validate
from malsim.memory.gate.claims import Validated, as_claims
from malsim.memory.gate.features import EDGES
from malsim.memory.graph.frames import LazyRows, frame_of, indices, lists, to_array
from malsim.memory.graph.texts import contents
from malsim.memory.schema import NONE
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory import Memory, Rules
    from malsim.memory.graph.arrays import Ints
    from malsim.sim.world import Fact
    from malsim.sim.writers.engine.claim_batch import ClaimBatch

_COUNTED = re.compile(r" #\d+\Z")
GRADE = "its claim holds"
LONGEST = 10**18  # largest claim number of a writer, so that sample bodies are as long as possible
_OF_FACTS = ("object", "stability", "stability_word", "topics", "entities")
_OF_STATEMENTS = ("title", "folded", "value")
_OF_FORMS = ("kind", "kind_word", "verification", "verification_word", "origin", "origin_word", "backed")
# columns that are computed eagerly, because the gate always reads them
_READ_OF_FACTS = ("object", "stability_word")
_READ_OF_FORMS = ("kind_word", "verification_word", "origin_word", "backed")
_READ_OF_ALL = ("annexed", "marked", "reverify", "locked", "pinned", "requires_review")
_OF_EACH = ("rep", "t", "sequence", "confidence", "body")  # columns whose values vary from claim to claim
_UNNAMED = frozenset(("handle", "key"))


@dataclass(frozen=True)
class ClaimForm:
    """Kind, verification and origin of a claim. If `about` is False, the claim judges another claim instead of a fact."""

    kind: str = "obs"
    verification: str = "unverified"
    origin: str = "llm"
    about: bool = True


class ClaimTemplates:
    """Templates that turn drafts into claims, built from the run's writers, facts and claim forms.

    The gate checks and screens each distinct text and edge once, at the start of the run. After that, only a claim's
    numbers are compared with their bounds. If a number is out of bounds, or the rules demand additional checks, the batch
    is checked in full. A claim's body names its writer and the writer's own count. While these counts rise and no other
    cell has such a body, duplicates are impossible, and none are searched for. Replications are numbered from `first` to
    `last`.
    """

    def __init__(
        self, facts: Sequence[Fact], writers: Sequence[str], forms: Sequence[ClaimForm], *, first: int, last: int,
        rules: Rules,
    ) -> None:  # fmt: skip
        self.first, self.rules = first, rules
        self._made_of = (facts, writers, forms, last)
        self.writers = pl.Series("writer", writers, dtype=pl.String)
        self.rank = self.writers.rank("ordinal").to_numpy().astype(np.int64)
        self._starts = np.cumsum([0, *(len(fact.values) for fact in facts)])
        self._about = np.array([form.about for form in forms])
        self.external = np.array([form.verification == "external" for form in forms])  # one flag per claim form
        samples = _samples(facts, writers, forms, last)
        common = {"writer": "writer", "kind": "obs", "title": "title", "confidence": 1.0, "source_refs": []}
        flat = [common | sample | {"t": float(t)} for t, sample in enumerate(sample for part in samples for sample in part)]
        validated = validate(as_claims(flat), rules)
        result = screened(validated, rules)
        self._sound = not (result.issues or result.notes)
        self._covered = self._sound and self._are_covered(forms, rules)
        starts = np.cumsum([0, *(len(part) for part in samples)])
        self._facts, self._statements, self._forms = (
            validated.claims.frame().select(names).slice(starts[start], starts[end] - starts[start])
            for names, start, end in ((_OF_FACTS, 0, 2), (_OF_STATEMENTS, 2, 4), (_OF_FORMS, 4, 5))
        )
        self._words = [_arrays(table) for table in (self._facts, self._statements, self._forms)]
        constant = validated.claims.frame().head(1)
        self._same, self._kinds = _arrays(constant), dict(constant.schema)
        self._names = self.writers.to_numpy()
        self._authors, self._counts = np.full((2, last - first + 1, len(writers)), NONE)
        # number of cells already searched for an equal body, and True as long as none was found
        self._read, self._alone = 0, True
        facts_, _, forms_ = self._words
        self._of_facts, self._of_forms, self._of_all = (
            {name: table[name] for name in names}
            for table, names in ((facts_, _READ_OF_FACTS), (forms_, _READ_OF_FORMS), (self._same, _READ_OF_ALL))
        )
        self._weights = validated.edges.column("weight")

    def _are_covered(self, forms: Sequence[ClaimForm], rules: Rules) -> bool:
        """Return True if, once the sample texts are checked, only bounds of each claim's numbers remain to be checked."""
        constant = set(schema.CLAIMS) - {*_OF_FACTS, *_OF_STATEMENTS, *_OF_FORMS, *_OF_EACH}
        tables = ({*_OF_FACTS}, {*_OF_STATEMENTS}, {*_OF_FORMS}, {"writer"}, {*_OF_EACH})
        programs = any(form.kind == "prg" for form in forms)
        published = checks.PUBLISHED if programs else (*checks.PUBLISHED, checks.IDLE_PROGRAM)
        of_each = (check for check in checks.all_checks(rules) if {*check.reads} & {*_OF_EACH})
        return checks.are_covered([table | constant for table in tables], rules, programs=programs) and all(
            any(check is other for other in published) for check in of_each
        )

    def under(self, rules: Rules) -> ClaimTemplates:
        facts, writers, forms, last = self._made_of
        templates = ClaimTemplates(facts, writers, forms, first=self.first, last=last, rules=rules)
        templates._authors, templates._counts = self._authors, self._counts
        templates._read, templates._alone = self._read, self._alone
        return templates

    def claims(self, drafts: ClaimBatch, memory: Memory) -> Validated:
        fact, statement = self._statement_index(drafts)
        writers, turns = self._names[drafts.who], drafts.turn.tolist()
        body = lists(f"{name} #{turn}" for name, turn in zip(writers.tolist(), turns, strict=True))
        new, t = self._are_new(drafts, memory), drafts.t / DAY
        numbers = {
            **{name: values.repeat(len(drafts)) for name, values in self._of_all.items()},
            **{name: values[fact] for name, values in self._of_facts.items()},
            **{name: values[drafts.form] for name, values in self._of_forms.items()},
            "rep": drafts.rep + self.first, "t": t, "writer": writers, "sequence": drafts.turn,
            "author": self._authors[drafts.rep, drafts.who], "confidence": drafts.stated, "stated": drafts.stated,
            "body": body,
        }  # fmt: skip
        make = partial(self._column, drafts, (fact, statement, drafts.form), numbers)
        if not new:
            numbers["content"] = make("content")
        rows = LazyRows(len(drafts), None, numbers, _UNNAMED, make, self._kinds)
        claims = Validated(rows, self._edges(drafts, memory), new=new)
        within_bounds = (drafts.stated > 0.0) & (drafts.stated <= 1.0) & (np.abs(t) <= FARTHEST)
        if self._covered and within_bounds.all():
            return claims
        return screened(replace(claims, issues=checks.faults(claims.claims, claims.edges, self.rules)), self.rules)

    def _column(
        self, drafts: ClaimBatch, indices: tuple[Ints, Ints, Ints], numbers: Mapping[str, NDArray[Any]], name: str
    ) -> NDArray[Any]:
        if name == "content":
            words = (self._column(drafts, indices, numbers, part).tolist() for part in ("kind", "folded"))
            return contents(numbers["rep"], *words, numbers["body"].tolist())
        if name == "claim":
            return np.arange(len(drafts))
        for table, rows in zip(self._words, indices, strict=True):
            if name in table:
                return table[name][rows]
        return self._same[name].repeat(len(drafts))

    def _statement_index(self, drafts: ClaimBatch) -> tuple[Ints, Ints]:
        about = self._about[drafts.form]
        fact = np.where(about, drafts.fact, len(self._starts) - 1)
        return fact, self._starts[fact] + np.where(about, drafts.value, 0)

    def on_admitted(self, drafts: ClaimBatch, row: Ints, memory: Memory) -> None:
        admitted = np.flatnonzero(row != NONE)
        self._authors[drafts.rep[admitted], drafts.who[admitted]] = memory.column("author")[row[admitted]]
        if memory.height == self._read + len(admitted):
            self._read = memory.height

    def _are_new(self, drafts: ClaimBatch, memory: Memory) -> bool:
        if self._alone and memory.height > self._read:
            others = memory.table("cells").rows.since(self._read).column("body").tolist()
            self._alone, self._read = not any(map(_COUNTED.search, others)), memory.height
        count, writer, turn = self._counts.reshape(-1), drafts.rep * len(self._names) + drafts.who, drafts.turn
        rise = bool((turn > count[writer]).all()) and all_differ(writer * (turn.max(initial=0) + 1) + turn)
        np.maximum.at(count, writer, turn)
        return rise and self._alone and self._sound

    def _edges(self, drafts: ClaimBatch, memory: Memory) -> LazyRows:
        claim, code = drafts.claim, drafts.relation
        numbers = {
            "claim": claim, "row": drafts.target, "weight": self._weights[code], "mutual": drafts.mutual, "code": code,
        }  # fmt: skip

        def make(name: str) -> NDArray[Any]:
            if name == "target":
                return memory.values("handle", drafts.target)
            return np.arange(len(claim)) - np.searchsorted(claim, claim)

        return LazyRows(len(claim), None, numbers, make=make, kinds=EDGES)

    @property
    def statements(self) -> pl.DataFrame:
        fact = np.repeat(np.arange(len(self._starts)), np.diff(self._starts, append=self._starts[-1] + 1))
        return frame_of({column.name: column[indices(fact)] for column in self._facts} | dict(self._statements.to_dict()))

    def statement(self, drafts: ClaimBatch) -> Ints:
        """Return the index of each draft's (fact, value) pair; NONE for all if the gate refused or changed a sample text."""
        _, statement = self._statement_index(drafts)
        return statement if self._sound else np.full(len(drafts), NONE, dtype=np.int64)


def _arrays(table: pl.DataFrame) -> dict[str, NDArray[Any]]:
    return {column.name: column.to_numpy() if column.dtype == pl.String else to_array(column) for column in table}


def _samples(
    facts: Sequence[Fact], writers: Sequence[str], forms: Sequence[ClaimForm], last: int
) -> list[list[dict[str, Any]]]:
    edges = [{"relation": name, "target": "obs_0000", "mutual": both} for both in (False, True) for name in schema.RELATIONS]
    return [
        [{"object": f.name, "stability": f.stability, "topics": [f.topic], "entities": [f.name]} for f in facts],
        [{"topics": [], "entities": []}],
        [{"title": f"{f.name} is {f.label(v)}", "value": f.number(v)} for f in facts for v in range(len(f.values))],
        [{"title": GRADE}],
        [{"kind": form.kind, "verification": form.verification, "origin": form.origin} for form in forms],
        [{"writer": name, "body": f"{name} #{LONGEST}"} for name in writers],
        [{"rep": last, "edges": edges}],
    ]
