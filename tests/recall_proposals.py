"""Conversion of Recall's write proposals to claims, for replaying recorded vectors. Issue paths are those of Recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from malsim.importers.reading.dates import days
from malsim.importers.recall.cells import FLAGS
from malsim.memory import schema
from malsim.memory.gate import screen
from malsim.memory.gate.claims import from_mappings
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    from malsim.memory.graph.claim_graph import Memory

Gate = Literal["newest", "0.5"]
Issues = list[dict[str, str]]

NOBODY = "claude-code"  # default owner of a proposal
OPERATIONS = ("create", "update", "supersede", "link", "annex")
_SAME = (
    "kind", "title", "body", "confidence", "summary", "topics", "entities", "uncertainty", "concern", "origin",
    "verification", "sensitivity", "stability", "edges",
)  # fmt: skip
# SHA-256 (first 16 hex digits) of each field's instruction text in Recall's write template (Apache-2.0), in template order.
_INSTRUCTIONS = {
    "kind": "ab216756f1642c22", "title": "b115a9e12332fd09", "body": "f62c93a1435050aa",
    "confidence": "3da196ea7a060868", "value": "c4e53c18691f6708", "topics": "e1e7b6d994b01499",
    "entities": "dbb72cc8134492cd", "lifecycle": "625ec0ca00385485", "quality": "c8b602b6f3c0aadf",
    "subject": "a88d55d5b6165e6c", "edges": "4e5dcc7ad6df4a7d", "sourceRefs": "dcba70e5cdc51b57",
    "uncertainty": "3ee2ae93da302973", "concern": "3ee2ae93da302973", "operation": "a1bed269b3e95a88",
    "origin": "4f0267b5401ec756", "verification": "2ebaa3b6a4b57577", "sensitivity": "b3c179bf4f9d4627",
    "stability": "eda0cf9d24d27efd", "expiresAt": "7963a8599a6a8c5e", "reverifyAfter": "a3b772c1ca508414",
    "flags": "f2a367a1cf09b678", "props": "bfccad8456d8ca6b", "programs": "f6236f5d37be9f36",
    "hyperedges": "2356b172000f71d3", "summary": "083e3b06da79bb37", "owner": "2007dae3eaa203fb",
    "project": "24b83ce3cd9968d6", "tenant": "6984a7239526414a",
}  # fmt: skip
_FACETS = ("lifecycle", "quality", "subject", "programs")


@dataclass(frozen=True, kw_only=True)
class Proposal:
    given: object
    now: float = 0.0
    key: str | None = None
    complete: bool = False


def read(
    proposals: Sequence[Proposal], *, memory: Memory | None = None, gate: Gate = "newest", start: float = 0.0
) -> pl.DataFrame:
    """Return Recall's proposals as claims for the gate, one row per proposal, with the columns of `schema.CLAIMS`.

    `start` is day 0 of the claims, counted from 1970; programs are looked up in `memory`. Fields without a column in malsim
    (project, tenant, facets, programs, hyperedges, props) are checked and screened as in Recall, then dropped. A missing
    field has Recall's default; a null field is an issue.

    >>> claim = {"kind": "obs", "title": "the pump failed", "body": "", "confidence": 0.6, "owner": " "}
    >>> read([Proposal(given=claim)])["issues"].to_list()
    [[{'path': 'owner', 'message': 'must be text that is not blank'}]]
    """
    rows = [_Reader(proposal, memory, gate, start).claim() for proposal in proposals]
    return pl.concat(rows) if rows else pl.DataFrame(schema=schema.CLAIMS)


class _Reader:
    def __init__(self, proposal: Proposal, memory: Memory | None, gate: Gate, start: float) -> None:
        self.proposal, self.memory, self.newest, self.start = proposal, memory, gate == "newest", start
        self.given = dict(proposal.given) if isinstance(proposal.given, Mapping) else {}
        self.issues: Issues = []
        self.extras: list[tuple[str, str]] = []

    def claim(self) -> pl.DataFrame:
        blanks = _template_issues(self.given, complete=self.newest and self.proposal.complete)
        if blanks and self.newest:
            return self._row({"kind": "obs", "title": "unfilled", "body": "", "confidence": 0.5, "writer": NOBODY}, blanks)
        if self.newest and self.proposal.complete:
            self.given = {name: value for name, value in self.given.items() if value is not None}
        fields = {"body": None} | {name: self.given[name] for name in _SAME if name in self.given}
        if "value" in self.given and self.newest:
            fields["value"] = self.given["value"]
        fields |= {"writer": self.text("owner") or NOBODY, **self.dates(), **self.flags()}
        fields["source_refs"] = self.texts("sourceRefs")
        self.check_extras()
        self.screen_texts(fields)
        return self._row(fields, [*self.issues, *blanks])

    def _row(self, fields: dict[str, Any], issues: Issues) -> pl.DataFrame:
        context: dict[str, Any] = {"t": self.proposal.now, "sequence": 0}
        if self.proposal.key is not None:
            context["key"] = self.proposal.key
        frame = from_mappings([fields | context], null_is_absent=False)
        all_issues = pl.Series("issues", [[*frame["issues"].to_list()[0], *issues]], dtype=schema.ISSUES)
        absent = [pl.lit(None, kind).alias(name) for name, kind in schema.CLAIMS.items() if name not in frame.columns]
        return frame.with_columns(all_issues, *absent).select(list(schema.CLAIMS))

    def wrong(self, path: str, message: str) -> None:
        self.issues.append({"path": path, "message": message})

    def text(self, name: str) -> str | None:
        value = self.given.get(name)
        if name in self.given and not _is_text(value):
            self.wrong(name, "must be text that is not blank")
            return None
        return value

    def texts(self, name: str) -> list[str]:
        """Return the strings in a list field that are not blank, and record an issue for every other item."""
        value = self.given.get(name, [])
        if not isinstance(value, list):
            self.wrong(name, "must be a list of texts")
            return []
        for i, item in enumerate(value):
            if not _is_text(item):
                self.wrong(f"{name}[{i}]", "must be text that is not blank")
        return [item for item in value if _is_text(item)]

    def dates(self) -> dict[str, float]:
        dates = {}
        for name, ours in (("expiresAt", "expires"), ("reverifyAfter", "reverify")):
            value = self.given.get(name)
            day = days(value, self.start) if isinstance(value, str) else None
            if day is not None:
                dates[ours] = day
            elif value is not None:
                self.wrong(name, "must be a date or null")
        return dates

    def flags(self) -> dict[str, bool]:
        value = self.given.get("flags", {})
        if not isinstance(value, Mapping):
            self.wrong("flags", "must be an object")
            return {}
        for name in FLAGS.values():
            if name in value and not isinstance(value[name], bool):
                self.wrong(f"flags.{name}", "must be true or false")
        return {ours: value[name] for ours, name in FLAGS.items() if isinstance(value.get(name), bool)}

    def check_extras(self) -> None:
        """Check the fields that malsim stores in no column, and collect their strings for the credential screen."""
        for name in ("project", "tenant"):
            self.extras.append((name, self.text(name) or ""))
        if "operation" in self.given and self.given["operation"] not in OPERATIONS:
            self.wrong("operation", f"must be one of {', '.join(OPERATIONS)}")
        props = self.given.get("props", {})
        if not isinstance(props, Mapping):
            self.wrong("props", "must be an object")
        self.extras += _strings(props, "props")
        if self.newest:
            for name in _FACETS:
                self.extras += [(f"{name}[{i}]", text) for i, text in enumerate(self.texts(name))]
            self.programs()
            self.hyperedges()

    def programs(self) -> None:
        if self.memory is None or not isinstance(self.given.get("programs"), list):
            return
        standing = self.memory.cells.filter(pl.col("kind") == "prg")
        names = {*standing["key"].to_list(), *standing["handle"].to_list()}
        for i, name in enumerate(self.given["programs"]):
            if _is_text(name) and name not in names:
                self.wrong(f"programs[{i}]", "names no program")

    def hyperedges(self) -> None:
        value = self.given.get("hyperedges", [])
        if not isinstance(value, list):
            self.wrong("hyperedges", "must be a list of memberships")
            return
        for i, item in enumerate(value):
            if not isinstance(item, Mapping) or not _is_text(item.get("id")):
                self.wrong(f"hyperedges[{i}]", "must name a hyperedge by its id")
                continue
            role, weight = item.get("role", ""), item.get("weight", 0)
            if not isinstance(role, str):
                self.wrong(f"hyperedges[{i}].role", "must be text")
            if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight <= 1:
                self.wrong(f"hyperedges[{i}].weight", "must be a number from 0 to 1")
            if self.memory is not None:
                self.wrong(f"hyperedges[{i}].id", "names no hyperedge; malsim keeps none")
            self.extras += [(f"hyperedges[{i}].id", item["id"]), (f"hyperedges[{i}].role", str(role))]

    def screen_texts(self, fields: dict[str, Any]) -> None:
        """Screen the extra strings. The older gate reports findings as issues; the newest gate changes the sensitivity."""
        rules = Rules.recall_v5(gate="newest" if self.newest else "0.5")
        texts = pl.DataFrame(self.extras, schema={"path": pl.String, "text": pl.String}, orient="row")
        secret = screen.in_texts(texts, rules)
        exposed = screen.in_texts(texts, rules, public=True) if fields.get("sensitivity") == "public" else secret.clear()
        if self.newest and (secret.height or exposed.height) and fields.get("sensitivity", "private") in schema.SENSITIVITY:
            fields["sensitivity"] = "secret" if secret.height else "private"
        elif not self.newest:
            for path, kind in secret.rows():
                self.wrong(path, f"screen: possible {kind}")
            for path, kind in exposed.rows():
                self.wrong(path, f"screen: public write may expose {kind}")


def _template_issues(given: Mapping[str, Any], *, complete: bool) -> list[dict[str, str]]:
    """Return an issue for each field that still contains its template text and, if `complete`, for missing fields and edges.

    >>> [issue["path"] for issue in _template_issues({"owner": "actor id", "title": "the pump failed"}, complete=False)]
    ['owner']
    """
    issues = []
    for field, digest in _INSTRUCTIONS.items():
        value = given.get(field)
        if complete and field not in given:
            issues.append({"path": field, "message": "must be given; null where it does not apply"})
        elif isinstance(value, str) and sha256(value.strip().encode("utf-8", "replace")).hexdigest()[:16] == digest:
            issues.append({"path": field, "message": "still holds its instruction"})
    edges = given.get("edges")
    if complete and not (isinstance(edges, list) and edges):
        issues.append({"path": "edges", "message": "must hold at least one edge"})
    return issues


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _strings(value: object, path: str) -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [(path, value)]
    if isinstance(value, Mapping):
        return [pair for name, item in value.items() for pair in _strings(item, f"{path}.{name}")]
    if isinstance(value, list):
        return [pair for i, item in enumerate(value) for pair in _strings(item, f"{path}[{i}]")]
    return []
