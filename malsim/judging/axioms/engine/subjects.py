"""Memories that axioms can test: laws by name, rules of the graph's law, and a user's own memory."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING

from malsim.adapters.checked_memory import LIMIT, CheckedMemories
from malsim.adapters.contract import FEATURES, OPTIONAL_CALLS
from malsim.base.errors import UsageError
from malsim.base.parameters import checked
from malsim.judging.axioms.engine.played_laws import GraphMemory, LawMemory
from malsim.judging.axioms.engine.subject import Subject
from malsim.laws import Law, find_law, plant_of, shipped_laws
from malsim.memory import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from malsim.adapters.checked_memory import CheckedMemory
    from malsim.adapters.engine.host import Source
    from malsim.memory.port import Vocabulary

PRESETS: dict[str, Callable[[], Rules]] = {"mal": Rules, "recall_v5": Rules.recall_v5, "guarded": Rules.guarded}
GRAPH_CASES = 4  # number of streams per axiom for a graph, which is slower than an item-based law


def subject_of(
    given: object, *, settings: Mapping[str, object] | None = None, limit: float = LIMIT, trusted: bool = False
) -> Subject:
    """Return the test subject for a law's name, `package.module:factory`, `Rules`, a `Law` or a memory factory.

    `settings` are parameters of an item-based law. A `trusted` factory runs in this process, any other factory in a
    sandbox. Raises `LawError` for an unknown law, `ScenarioError` for a parameter that is unknown or out of bounds, and
    `AdapterError` for a memory that cannot be loaded or made.
    """
    if settings and not isinstance(given, Law) and (not isinstance(given, str) or ":" in given or given in PRESETS):
        raise UsageError("only item-based laws have parameters", where="axioms", given=", ".join(settings))
    if isinstance(given, Subject):
        return given
    if isinstance(given, Rules):
        return _graph("rules", given)
    if isinstance(given, Law):
        return _law(given, settings)
    if isinstance(given, str):
        if ":" in given:
            return _user(given, given, limit)
        return _graph(given, PRESETS[given]()) if given in PRESETS else _law(find_law(given, where="axioms"), settings)
    if callable(given):
        return _user(getattr(given, "__name__", type(given).__name__), given, limit, trusted=trusted)
    hint = "pass the name of a law, Rules, or a factory of memories"
    raise UsageError("this object cannot be tested", where="axioms", given=type(given).__name__, hint=hint)


def every_subject() -> list[Subject]:
    graphs = [_graph(name, preset()) for name, preset in PRESETS.items()]
    return graphs + [_law(law) for name, law in shipped_laws().items() if name not in PRESETS]


def _graph(name: str, rules: Rules) -> Subject:
    offers = frozenset(("belief", "edges", "dates", "writers"))
    return Subject(name, partial(GraphMemory, rules), edges=True, cases=GRAPH_CASES, offers=offers)


def _law(law: Law, settings: Mapping[str, object] | None = None) -> Subject:
    params = checked(settings or {}, law.params, where=law.name)
    half_life = float(params["half_life"]) if "half_life" in params else None

    # Item-based laws ignore verification.
    def fresh(vocabulary: Vocabulary | None = None, *, verified: bool = True) -> LawMemory:  # noqa: ARG001
        return LawMemory(plant_of(law, params), vocabulary)

    offers = frozenset(("belief", "dates", "writers") if law.belief else ("dates", "writers"))
    return Subject(law.name, fresh, belief=law.belief, half_life=half_life, offers=offers)


def _user(name: str, source: Source, limit: float, *, trusted: bool = False) -> Subject:
    memories = CheckedMemories(source, name, limit=limit, trusted=trusted)
    declares = memories.declares()
    offers = {part for part in FEATURES if declares[part] is not False}
    offers |= {call for call in OPTIONAL_CALLS if declares[call]}

    # A user's memory decides for itself whether claims are verified.
    def fresh(vocabulary: Vocabulary | None = None, *, verified: bool = True) -> CheckedMemory:  # noqa: ARG001
        return memories.make()

    weakref.finalize(fresh, memories.close)  # close the memories once the factory is no longer referenced
    return Subject(
        name, fresh, belief=declares["belief"] is not False, edges=bool(declares["edges"]),
        half_life=declares["half_life"], offers=frozenset(offers), user=True, source=source,
    )  # fmt: skip
