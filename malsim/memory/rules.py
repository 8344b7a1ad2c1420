"""Rules of the memory: every tunable constant with its unit, bounds, default, reason and source."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import RulesError, nearest
from malsim.base.files.text_files import read_text
from malsim.base.files.toml_text import toml_table
from malsim.base.finite import DURATION, LARGEST, typed_days
from malsim.base.user_formula import UserFormula
from malsim.memory import schema

if TYPE_CHECKING:
    from collections.abc import Mapping

Formula = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], Any]

_DERIVED = re.compile(r"cell-derived-[a-z0-9-]+")
PUBLISHED = "published design"
BLOG = "published design, on calibration"
PRESETS = ("default", "recall_v5", "guarded", "governed")
OURS = "malsim, after the published design"


def _number(default: float, unit: str, low: float, high: float, why: str, source: str = OURS, *, above: bool = False) -> Any:
    metadata = {"unit": unit, "low": low, "high": high, "above": above, "why": why, "source": source}
    return field(default=default, metadata=metadata)


def _choice(default: str, choices: object, why: str, source: str = OURS) -> Any:
    return field(default=default, metadata={"choices": get_args(choices), "why": why, "source": source})


MassFrom = Literal["effective", "stated"]
Neighbours = Literal["active", "every"]
Calibration = Literal["overconfidence", "brier", "none"]
WrongWhen = Literal["contradicted", "outweighed", "lost"]
EvidenceFrom = Literal["other_writer", "any", "external"]
Recompute = Literal["tick", "admit"]
Reads = Literal["now", "last tick"]
Sources = Literal["optional", "required"]
Screen = Literal["reject", "flag"]
Secrets = Literal["full", "reference", "reference_0.5"]
HandleEvidence = Literal["resolved", "inert"]
Hygiene = Literal["refused", "accepted"]
RefusedEdge = Literal["refused", "dropped"]
Duplicates = Literal["refused", "last_weight"]
Restated = Literal["kept", "dropped"]
Candidates = Literal["all", "first"]
SupersedeBy = Literal["any", "own", "better_calibrated"]
SupersedeName = Literal["any", "key"]
Locks = Literal["enforced", "display"]
Lineage = Literal["chain", "one_level"]
ReinforcedBy = Literal["nothing", "update", "corroboration", "restatement"]
PinnedCurrency = Literal["held", "c0"]
ExpandWhen = Literal["doubt", "review"]
Corrections = Literal["supersede", "reject"]
Derived = Literal["stand", "fall"]
RecordsTau = Literal["claims", "class", "none"]
RecordsJoin = Literal["apart", "one"]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules of one memory. `Rules()` holds malsim's defaults, `Rules.recall_v5()` those of the reference implementation.

    Times are in days, or strings with a unit (`tau_volatile="36h"`); confidences and the weights of masses are pure numbers.
    A value out of bounds raises a `RulesError` that names the rule, the given value and the allowed values.

    >>> Rules(challenge_ceiling=1.5)
    Traceback (most recent call last):
    malsim.base.errors.RulesError: rules.challenge_ceiling: out of bounds; given: 1.5; allowed: 0 to 1
    """

    support_ceiling: float = _number(0.15, "1", 0, 1, "maximum that supports can add", PUBLISHED)
    challenge_ceiling: float = _number(0.60, "1", 0, 1, "maximum that challenges can subtract", PUBLISHED)
    mass_from: MassFrom = _choice("effective", MassFrom, "a tick reads the effective confidence of neighbours before it")
    mass_neighbours: Neighbours = _choice("active", Neighbours, "annexed and superseded cells have no effect")
    calibration: Calibration = _choice("overconfidence", Calibration, "right claims of low confidence have no penalty", BLOG)
    wrong_when: WrongWhen = _choice("contradicted", WrongWhen, "superseded, or an active cell contradicts it", PUBLISHED)
    evidence_from: EvidenceFrom = _choice("other_writer", EvidenceFrom, "writers may correct themselves without a penalty")
    calibration_history: int = _number(3, "outcomes", 0, 1_000_000, "minimum number for a factor below 1", PUBLISHED)
    calibration_floor: float = _number(0.5, "1", 0, 1, "minimum of a writer's factor", PUBLISHED)
    recompute: Recompute = _choice("tick", Recompute, "only the tick changes scores")
    reads: Reads = _choice("now", Reads, "a contradiction is visible on the next read")
    confidence_cap: float = _number(0.7, "1", 0, 1, "maximum without support", "reference gate, section 4", above=True)
    sources: Sources = _choice("optional", Sources, "whether a claim must name a source")
    sure_above: float = _number(1.0, "1", 0, 1, "claims of higher confidence must be verified")
    banned: str = field(default="", metadata={"why": "words not allowed in a title, body or summary", "source": OURS})
    verifiers: str = field(default="human", metadata={"why": "who may verify others' cells (* for anyone)", "source": OURS})
    screen: Screen = _choice("reject", Screen, "credentials are not stored")
    screen_formats: Secrets = _choice("full", Secrets, "formats of the reference and of a credential detector")
    handle_evidence: HandleEvidence = _choice("resolved", HandleEvidence, "an edge may name its target by handle")
    self_edges: Hygiene = _choice("refused", Hygiene, "an edge to its own cell would let a cell support itself")
    duplicate_edges: Duplicates = _choice("refused", Duplicates, "an edge is counted once, with one weight")
    reused_keys: Hygiene = _choice("refused", Hygiene, "stored cells are not overwritten")
    restated_edges: Restated = _choice("kept", Restated, "edges of a restated claim are kept under its writer")
    restated_among: Candidates = _choice("all", Candidates, "cells of the same title with which a claim is compared")
    edge_weight_max: float = _number(1.0, "1", 0, math.inf, "maximum weight of an edge", above=True)
    weight_supports: float = _number(1.0, "1", 0, math.inf, "default weight of a supports edge", PUBLISHED, above=True)
    weight_contradicts: float = _number(
        1.0, "1", 0, math.inf, "default weight of a contradicts edge, without its sign", PUBLISHED, above=True
    )
    supersede_by: SupersedeBy = _choice("any", SupersedeBy, "who may supersede another writer's cell", PUBLISHED)
    refused_supersedes: RefusedEdge = _choice("refused", RefusedEdge, "refuse the claim, or only its edge")
    supersede_name: SupersedeName = _choice("any", SupersedeName, "names that a supersedes edge may use")
    corrections: Corrections = _choice("supersede", Corrections, "corrected values are superseded, or refused from then on")
    derived: Derived = _choice("stand", Derived, "cells derived from a corrected claim")
    idle_programs: Hygiene = _choice("refused", Hygiene, "a program cell that runs nothing would never report")
    locks: Locks = _choice("enforced", Locks, "locked: cannot be superseded or annexed; immutable: cannot change")
    lineage: Lineage = _choice("chain", Lineage, "versions count along the whole chain")
    currency_floor: float = _number(0.1, "1", 0, 1, "currency of an old claim", PUBLISHED)
    tau_stable: float = _number(3650.0, "d", 0, math.inf, "time constant of stable claims", PUBLISHED, above=True)
    tau_volatile: float = _number(30.0, "d", 0, math.inf, "time constant of volatile claims", PUBLISHED, above=True)
    tau_ephemeral: float = _number(7.0, "d", 0, math.inf, "time constant of ephemeral claims", PUBLISHED, above=True)
    reinforced_by: ReinforcedBy = _choice("update", ReinforcedBy, "each choice includes those before it")
    pinned_currency: PinnedCurrency = _choice("held", PinnedCurrency, "pinning does not raise currency")
    salience_seed: float = _number(0.5, "1", 0, 1, "salience of a new cell", PUBLISHED)
    salience_bump: float = _number(0.2, "1", 0, 1, "share of the gap to 1 closed when a cell is expanded", PUBLISHED)
    salience_floor: float = _number(0.05, "1", 0, 1, "salience of an unread cell", PUBLISHED)
    salience_tau: float = _number(30.0, "d", 0, math.inf, "time constant of salience", PUBLISHED, above=True)
    damping: float = _number(1.0, "1", 0, 1, "weight of the new effective; the rest is the previous value", above=True)
    settle_tolerance: float = _number(1e-9, "1", 0, 1, "the largest change that counts as settled")
    settle_ticks: int = _number(500, "ticks", 1, 1_000_000, "maximum number of ticks for settling")
    challenged_below: float = _number(0.5, "share of stated", 0, 1, "effective below this share marks a cell", PUBLISHED)
    stale_below: float = _number(0.3, "1", 0, 1, "currency below this marks a cell", PUBLISHED)
    expand_when: ExpandWhen = _choice("doubt", ExpandWhen, "reasons to mark a line with `^`")
    rank_lexical: float = _number(1.0, "1", 0, math.inf, "weight of the text match in the push", "reference fusion")
    rank_degree: float = _number(0.25, "1", 0, math.inf, "weight of a cell's degree in the push", "reference fusion")
    rank_effective: float = _number(0.15, "1", 0, math.inf, "weight of effective in the push", "reference fusion")
    rank_recency: float = _number(0.1, "1", 0, math.inf, "weight of recency in the push", "reference fusion")
    rank_recency_tau: float = _number(30.0, "d", 0, math.inf, "time constant of recency", "reference fusion", above=True)
    rank_reference: float = _number(0.15, "1", 0, 1, "factor on the text match of ref cells", "reference fusion")
    records_tau: RecordsTau = _choice("claims", RecordsTau, "law records: source of a claim's tau")
    records_origin: RecordsJoin = _choice("apart", RecordsJoin, "law records: join claims of one value and origin")
    records_lineage: RecordsJoin = _choice("apart", RecordsJoin, "law records: join writers of one lineage")
    records_echo: float = _number(1.0, "1", 0, 1, "law records: weight of a value that its first claimant retracted")
    records_voice: RecordsJoin = _choice("apart", RecordsJoin, "law records: join claims whose first claimant withdrew")
    records_witness: float = _number(0.0, "d", 0, math.inf, "law records: time within which first claimants are witnesses")
    effective: Formula | str | None = field(default=None, metadata={
        "why": "your own formula, (stated, calibration, support, challenge) -> effective; or `records`: the beliefs of "
        "that law in a run; or `cell-derived-NAME`: the published formula times that derived value of the run's netlist at "
        "the last tick"
    })  # fmt: skip
    tau_scale: str | None = field(default=None, metadata={"why": "`cell-derived-NAME`: factor on tau", "source": OURS})

    def __post_init__(self) -> None:
        for rule in fields(self):
            value, where = getattr(self, rule.name), f"rules.{rule.name}"
            if rule.metadata.get("unit") == "d" and isinstance(value, str):
                if (days := typed_days(value)) is None:
                    raise RulesError("not a duration", where=where, given=value, allowed=DURATION)
                object.__setattr__(self, rule.name, days)
            _check(rule, getattr(self, rule.name), where)

    @classmethod
    def recall_v5(cls, *, gate: Literal["newest", "0.5"] = "newest") -> Rules:
        """Return the rules of the reference memory, Recall v5. `gate` selects its newest gate or that of release 0.5.

        >>> Rules.recall_v5().calibration, Rules.recall_v5(gate="0.5").screen
        ('brier', 'reject')
        """
        if gate not in ("newest", "0.5"):
            raise RulesError("no such gate", where="Rules.recall_v5", given=gate, allowed="newest, 0.5")
        newest = gate == "newest"
        return cls(
            mass_neighbours="every", calibration="brier", evidence_from="any", recompute="admit", reads="last tick",
            screen="flag" if newest else "reject", screen_formats="reference" if newest else "reference_0.5",
            handle_evidence="inert", self_edges="accepted", duplicate_edges="last_weight", reused_keys="accepted",
            restated_edges="dropped", restated_among="first", edge_weight_max=math.inf, idle_programs="accepted",
            supersede_name="any" if newest else "key", locks="display", lineage="one_level", reinforced_by="nothing",
            expand_when="review",
        )  # fmt: skip

    @classmethod
    def guarded(cls) -> Rules:
        """Return rules that resist lying writers: law `records`, and writers can supersede only their own cells."""
        return cls(effective="records", supersede_by="own", refused_supersedes="dropped", records_witness=1.0)

    @classmethod
    def governed(cls) -> Rules:
        """Return rules that make people's corrections last: rejected values and everything derived from them stay out."""
        return cls(supersede_by="own", refused_supersedes="dropped", corrections="reject", derived="fall")

    @classmethod
    def of(cls, table: Mapping[str, Any], *, where: str = "rules", allow_code: bool = False) -> Rules:
        """Build rules from a table as in a TOML file: an optional `preset`, and the fields that differ from it.

        >>> Rules.of({"preset": "recall_v5", "damping": 0.5}).calibration
        'brier'
        """
        rest = dict(table)
        if "formula" in rest:
            rest["effective"] = UserFormula.of_table(rest.pop("formula"), allowed=allow_code)
        preset = rest.pop("preset", "default")
        if preset not in PRESETS:
            raise RulesError("no such preset", where=f"{where}.preset", given=preset, allowed=", ".join(PRESETS))
        rules: Rules = cls() if preset == "default" else getattr(cls, str(preset))()
        return rules.replace(where=where, **rest)

    @classmethod
    def read(cls, source: str | Path, *, allow_code: bool = False) -> Rules:
        """Read rules from a preset's name, a TOML file's `[rules]` (a formula needs `allow_code`), or `FILE.py:NAME`."""
        if source in PRESETS or ".py:" in str(source):
            return cls(effective=UserFormula.load(str(source))) if ".py:" in str(source) else cls.of({"preset": source})
        if not (path := Path(source)).is_file():
            allowed = f"{', '.join(PRESETS)}, FILE.toml, FILE.py:NAME"
            raise RulesError("no such preset or file", given=str(source), allowed=allowed)
        text = read_text(path, refused=RulesError)
        try:
            table = toml_table(text)
        except RecursionError as error:
            raise RulesError("the file is nested too deeply", where=str(path)) from error
        except ValueError as error:
            raise RulesError("not a TOML file", where=str(path), hint="write one name = value per line") from error
        rules = table.get("rules", table)
        if not isinstance(rules, dict):
            raise RulesError("not a table", where=f"{path}: rules", given=rules, hint="write [rules] on its own line")
        return cls.of(rules, where=f"{path}: rules", allow_code=allow_code)

    def replace(self, *, where: str = "rules", **changes: object) -> Rules:
        """Return a copy with the named rules changed. Raise `RulesError` for unknown names. Times are days or have a unit.

        >>> Rules().replace(tau_volatile="36h").tau_volatile
        1.5
        """
        names = {rule.name: rule for rule in fields(self)}
        for name in changes:
            if name not in names:
                hint = nearest(name, names, "run `malsim docs --schema` to list them")
                raise RulesError("no such rule", where=where, given=name, hint=hint)
        return replace(self, **changes) if changes else self  # type: ignore[arg-type]  # each value is checked against its field below

    def set(self, *assignments: str) -> Rules:
        """Return the rules after applying assignments, as typed on a command line, in order.

        >>> Rules().set("rules.challenge_ceiling=0.45").challenge_ceiling
        0.45
        """
        rules = self
        for text in assignments:
            name, equals, value = text.partition("=")
            if not equals:
                raise RulesError("not an assignment", where="--set", given=text, allowed="rules.NAME=VALUE")
            rules = rules.replace(where="--set", **{name.strip().removeprefix("rules."): _parse_value(value.strip())})
        return rules

    def weights(self) -> dict[str, float]:
        """Return the default edge weight of each relation, used if the writer states no weight.

        >>> Rules(weight_contradicts=0.2).weights()["contradicts"]
        -0.2
        """
        return schema.WEIGHTS | {"supports": self.weight_supports, "contradicts": -self.weight_contradicts}

    @cached_property
    def tau(self) -> NDArray[np.float64]:
        """Time constants of currency in days, in the order of `schema.STABILITY`."""
        return np.array([self.tau_stable, self.tau_volatile, self.tau_ephemeral], dtype=np.float64)


def _parse_value(text: str) -> object:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text.strip("\"'")


def _check(rule: Field[Any], value: object, where: str) -> None:
    meta = rule.metadata
    if "choices" in meta:
        if value not in meta["choices"]:
            raise RulesError("not one of the allowed values", where=where, given=value, allowed=", ".join(meta["choices"]))
    elif "unit" in meta:
        kinds = int if isinstance(rule.default, int) else (int, float)
        low, high = meta["low"], meta["high"]
        allowed = f"above {low:g}, at most {high:g}" if meta["above"] else f"{low:g} to {high:g}"
        allowed = f"whole numbers, {allowed}" if kinds is int else allowed
        is_number = isinstance(value, kinds) and not isinstance(value, bool) and not LARGEST < abs(value) < math.inf
        if not is_number or not low <= value <= high or (meta["above"] and value == low):
            raise RulesError("out of bounds" if is_number else "not a number", where=where, given=value, allowed=allowed)
    elif rule.type == "str":
        if not isinstance(value, str):
            raise RulesError("not a string", where=where, given=value, allowed="words separated by spaces")
    elif rule.name == "tau_scale" and value is not None and not _DERIVED.fullmatch(str(value)):
        raise RulesError("not the name of a value derived from cells", where=where, given=value, allowed="cell-derived-NAME")
    elif value not in (None, "records") and not callable(value) and not _DERIVED.fullmatch(str(value)):
        allowed = "a function of four arrays, records, cell-derived-NAME, or None"
        raise RulesError("not a function", where=where, given=value, allowed=allowed)
