"""Records and overlay on SQLite: deduplication, links, search, lifetimes, quarantine, privacy and events."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.base.errors import AddressError, UsageError
from malsim.records import Fusion, MemoryRecord, Overlay, OverlayItem, PackBudget, RecordStore, Scope, Upkeep

HOUR = 3_600_000
DAY = 24 * HOUR


class Clock:
    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


records = st.builds(
    MemoryRecord,
    lane=st.sampled_from(["semantic", "episodic"]), kind=st.just("fact"), key=st.sampled_from("ab"),
    value=st.sampled_from(["x", 1]), tags=st.lists(st.sampled_from("uvw"), max_size=2).map(tuple),
    score=st.none() | st.floats(0, 1), prob=st.none(),
)  # fmt: skip
texts = st.text("abc ", min_size=1, max_size=12).filter(str.strip)
items = st.builds(
    OverlayItem, text=texts, agent_id=st.sampled_from("uv"), kind=st.sampled_from(["fact", "plan"]), trust=st.floats(0, 1),
    privacy=st.sampled_from(["private", "project", "shared"]), lane=st.sampled_from(["semantic", "episodic", "ephemeral"]),
)  # fmt: skip
few = settings(max_examples=25, deadline=None)


def contents(store: RecordStore) -> list[dict[str, Any]]:
    return store.database.rows("SELECT * FROM memory_records ORDER BY seq")


@few
@given(st.lists(records, max_size=6))
def test_repeated_put_changes_only_the_journal(records: list[MemoryRecord]) -> None:
    with RecordStore(clock=Clock()) as store:
        for record in records:
            store.put(record)
        assert len(contents(store)) == len({record.hash for record in records})
        last = [store.put(record) for record in records]
        before = contents(store)
        assert [store.put(record) for record in records][-1:] == last[-1:]
        assert contents(store) == before
        equal = [event["payload"]["dedupe"] for event in store.events("memory.record.put")]
        assert equal[2 * len(records) :] == [True] * len(records)


@few
@given(st.lists(items, max_size=6))
def test_duplicate_item_is_merged_if_requested(items: list[OverlayItem]) -> None:
    with RecordStore(clock=Clock()) as store:
        overlay = Overlay(store)
        for item in items:
            overlay.upsert(item, dedupe=True)
        assert len(contents(store)) == len({item.hash for item in items})
        if items:
            stored = overlay.upsert(items[-1], dedupe=True)
            assert overlay.upsert(items[-1], dedupe=True) == stored == overlay.get(stored.id)
            assert stored.extra["hash"] == stored.hash
            assert overlay.upsert(items[-1]).id != stored.id


@few
@given(st.lists(items, max_size=12), texts, st.integers(0, 40))
def test_search_and_pack_are_repeatable_and_change_nothing(items: list[OverlayItem], question: str, most: int) -> None:
    with RecordStore(clock=Clock()) as store:
        overlay = Overlay(store)
        for item in items:
            overlay.upsert(item)
        before = contents(store)
        hits = overlay.search(question)
        assert overlay.search(question) == hits
        privacies = {overlay.get(entry.id).privacy for entry in hits}
        assert "shared" not in privacies
        pack = overlay.pack(question, PackBudget(most))
        assert pack.tokens <= most
        assert not any(item.durability == "ephemeral" for item in pack.items)
        assert contents(store) == before
        journaled = store.events("memory.pack.journaled")[-1]["payload"]
        assert [entry["id"] for entry in journaled["decisions"]] == [entry.id for entry in pack.decisions]


def test_equal_records_are_merged_and_keep_their_age() -> None:
    clock = Clock()
    with RecordStore(clock=clock) as store:
        first = store.put(MemoryRecord("semantic", "fact", "port", 8080, tags=("ann",), score=0.4, prob=0.9))
        clock.now = HOUR
        again = store.put(MemoryRecord("semantic", "fact", "port", 8080.0, tags=("bob", "ann"), score=0.6))
        assert again == replace(first, tags=("ann", "bob"), score=0.6, updated=HOUR) == store.get(first.id)
        assert (again.created, again.prob) == (0, 0.9)


def test_hybrid_score_is_the_weighted_sum_of_its_parts() -> None:
    clock = Clock()
    with RecordStore(clock=clock) as store:
        store.put(MemoryRecord("semantic", "fact", "release day", "Tuesday", score=7.0))
        clock.now = 6 * HOUR
        store.put(MemoryRecord("semantic", "fact", "port", "8080"))
        best, other = store.select_hybrid("release")
        assert best.record.value == "Tuesday"
        assert (best.parts["fts"], best.parts["recency"], best.parts["utility"]) == (1.0, 0.5, 1.0)
        for hit in (best, other):
            parts = hit.parts
            total = 0.5 * parts["sim"] + 0.2 * parts["fts"] + 0.2 * parts["recency"] + 0.1 * parts["utility"]
            assert hit.score == pytest.approx(total)
        coded = store.select_hybrid("release", recency_form="e_folding")[0]
        assert coded.parts["recency"] == pytest.approx(0.367879, abs=1e-6)
        with pytest.raises(UsageError, match="recency"):
            store.select_hybrid("release", recency_form="linear")


def test_linked_record_is_found_through_the_seed_record() -> None:
    with RecordStore(clock=Clock()) as store:
        seed = store.put(MemoryRecord("semantic", "fact", "backup", "runs nightly", score=1.0))
        far = store.put(MemoryRecord("profile", "fact", "zz", 1))
        store.link(seed.id, far.id, "supports", 0.5)
        hits = store.explain_coherent("backup runs nightly", lane="semantic")
        assert [hit["id"] for hit in hits] == [seed.id, far.id]
        assert hits[0]["path"] == []
        assert hits[1]["path"] == [{"src": seed.id, "rel": "supports", "weight": 0.5}]
        parts = hits[1]["parts"]
        assert parts["seed"] == hits[0]["score"]
        assert hits[1]["score"] == pytest.approx(0.5 * parts["seed"] + 0.3 * 0.5 + 0.2)
        store.link(seed.id, far.id, "supports", 1.0)
        assert store.links(seed.id) == [{"src": seed.id, "dst": far.id, "rel": "supports", "weight": 1.0}]
        with pytest.raises(AddressError, match="no such record"):
            store.link(seed.id, "gone", "supports")
        with pytest.raises(UsageError, match="weight"):
            store.link(seed.id, far.id, "supports", 2.0)


def test_contradictions_are_listed_but_change_no_score() -> None:
    with RecordStore(clock=Clock()) as store:
        ann = store.put(MemoryRecord("semantic", "fact", "oncall", "ann"))
        store.put(MemoryRecord("semantic", "fact", "door", "open"))
        before = {hit.record.id: hit.score for hit in store.select_hybrid("who is oncall")}
        bob = store.put(MemoryRecord("semantic", "fact", "oncall", "bob"))
        store.link(bob.id, ann.id, "contradicts")
        after = {hit.record.id: hit.score for hit in store.select_hybrid("who is oncall")}
        assert {name: after[name] for name in before} == before
        pairs = [{"src": bob.id, "dst": ann.id, "rel": "contradicts"}, {"src": ann.id, "dst": bob.id, "rel": "value"}]
        assert store.contradictions() == pairs


@pytest.mark.parametrize("question", ['"', "a OR", "NEAR(", "%_\\", "", "é'; DROP TABLE memory_records; --", "\0"])
def test_search_text_is_not_parsed_as_query_syntax(question: str) -> None:
    with RecordStore(clock=Clock()) as store:
        store.put(MemoryRecord("semantic", "fact", "a", "100%"))
        for match in ("like", "words"):
            store.select(question, match=match)
        store.select_hybrid(question)
        assert [record.key for record in store.select("100%")] == ["a"]
        assert store.select("1_0%") == []
        with pytest.raises(UsageError, match="limit"):
            store.select(question, limit=0)
        with pytest.raises(UsageError, match="lane"):
            store.select(question, lane="attic")


def test_vectors_of_different_embedders_are_not_compared() -> None:
    with RecordStore(clock=Clock(), embedder=lambda text: [float(len(text)), 1.0]) as store:
        store.put(MemoryRecord("semantic", "fact", "a", "one"))
        assert store.search_embed([0.0, 2.0])[0].score == pytest.approx(1 / 26**0.5, abs=1e-6)
        assert store.search_embed([0.0, 2.0, 1.0])[0].score == 0.0
        store.embedder = lambda _: [1.0, 1.0, 1.0]
        assert store.select_hybrid("one")[0].parts["sim"] == 0.0


def test_lifetimes_count_from_creation() -> None:
    clock = Clock()
    with RecordStore(clock=clock) as store:
        overlay = Overlay(store)
        for lane in ("ephemeral", "short_term", "episodic", "semantic"):
            overlay.upsert(OverlayItem(f"in {lane}", lane=lane))
        clock.now = 299_999
        assert store.keep_up() == []
        touched = overlay.upsert(OverlayItem("in short_term", lane="short_term"), dedupe=True)
        assert (touched.ts, touched.updated) == (0, 299_999)
        removals = []
        for now in (6 * 60_000, HOUR, DAY, 89 * DAY, 90 * DAY):
            clock.now = now
            removals.append([event["lane"] for event in store.keep_up()])
        assert removals == [["ephemeral"], ["short_term"], ["episodic"], [], ["semantic"]]
        assert {event["payload"]["reason"] for event in store.events("memory.item.expired")} == {"ttl"}


def test_expired_records_are_hidden_before_a_sweep() -> None:
    clock = Clock()
    with RecordStore(clock=clock) as store:
        overlay = Overlay(store)
        first = overlay.upsert(OverlayItem("the kettle is on", ttl_s=60), dedupe=True)
        store.put(MemoryRecord("ephemeral", "fact", "kettle", "on"))
        clock.now = 300_000
        assert overlay.search("kettle") == []
        assert store.select_hybrid("kettle") == []
        again = overlay.upsert(OverlayItem("the kettle is on", ttl_s=60), dedupe=True)
        assert (again.ts, again.id == first.id) == (300_000, False)
        assert store.put(MemoryRecord("ephemeral", "fact", "kettle", "on")).created == 300_000
        assert len(store.events("memory.item.expired")) == 2


def test_full_lane_evicts_the_least_recently_updated_records() -> None:
    clock = Clock()
    with RecordStore(clock=clock, upkeep=Upkeep(caps={"semantic": 3})) as store:
        stored = [store.put(MemoryRecord("semantic", "fact", "k", at)) for at in range(5)]
        clock.now = 1
        store.put(MemoryRecord("semantic", "fact", "k", 0))
        removals = store.sweep()
        assert [(event["id"], event["reason"]) for event in removals] == [(stored[1].id, "cap"), (stored[2].id, "cap")]
        assert store.sweep() == []


@pytest.mark.parametrize("every", [60_000, 7 * 60_000, HOUR])
def test_rare_upkeep_removes_as_much_as_frequent_upkeep(every: int) -> None:
    clock = Clock()
    with RecordStore(clock=clock, upkeep=Upkeep(most=2)) as store:
        store.keep_up()
        for at in range(9):
            store.put(MemoryRecord("ephemeral", "fact", "k", at))
        for now in range(every, HOUR + 1, every):
            clock.now = now
            store.keep_up()
        clock.now = HOUR
        store.keep_up()
        assert contents(store) == []


def test_item_in_quarantine_is_hidden_until_admitted() -> None:
    with RecordStore(clock=Clock()) as store:
        overlay = Overlay(store)
        item = OverlayItem("the door is open", agent_id="stranger", keywords=("door",), links={"parents": ["x"]})
        name = overlay.hold(item, "unknown agent")
        assert overlay.search("door", scope=Scope(agent_id="stranger")) == []
        assert overlay.on_hold() == [(name, item, "unknown agent")]
        assert overlay.admit(name).text == item.text
        assert [hit.text for hit in overlay.search("door", scope=Scope(agent_id="stranger"))] == [item.text]
        assert overlay.on_hold() == []
        names = ["memory.quarantined", "memory.admitted", "memory.item.upserted"]
        assert [event["name"] for event in store.events()] == names
        with pytest.raises(AddressError, match="quarantine"):
            overlay.admit(name)


def test_search_returns_shared_items_only_on_request() -> None:
    with RecordStore(clock=Clock()) as store:
        overlay = Overlay(store)
        for privacy, agent, project in (row.split() for row in ("private u p", "project v p", "shared w q", "project w q")):
            overlay.upsert(OverlayItem(f"kettle {privacy} {agent}", privacy=privacy, agent_id=agent, project_id=project))

        def visible(scope: Scope | None = None) -> set[str]:
            return {hit.text.removeprefix("kettle ") for hit in overlay.search("kettle", scope=scope)}

        overlay.upsert(OverlayItem("kettle private nobody"))
        assert visible() == {"private nobody", "project v", "project w"}
        assert visible(Scope(agent_id="u")) == {"private u", "project v", "project w"}
        assert visible(Scope(agent_id="v", project_id="p")) == {"project v"}
        assert visible(Scope(("shared",))) == {"shared w"}
        with pytest.raises(UsageError, match="privacy"):
            Scope(("public",))


def test_pack_depends_on_trust_pins_kinds_and_promotion() -> None:
    with RecordStore(clock=Clock()) as store:
        overlay = Overlay(store, fusion=Fusion(mmr=1.0))
        low = overlay.upsert(OverlayItem("kettle one", trust=0.2))
        high = overlay.upsert(OverlayItem("kettle two", trust=0.9))
        total = overlay.upsert(OverlayItem("kettle sum", kind="summary"))
        scratch = overlay.upsert(OverlayItem("kettle three", lane="ephemeral", trust=0.1))
        assert [hit.id for hit in overlay.search("kettle")] == [total.id, high.id, low.id, scratch.id]
        overlay.pin(low.id)
        pack = overlay.pack("kettle", PackBudget(100, {"fact": 2}))
        assert [(item.id, item.slot, item.dropped) for item in pack.decisions] == [
            (low.id, "fact:1", None), (total.id, "summary:1", None), (high.id, "fact:2", None),
            (scratch.id, None, "ephemeral: promote it first"),
        ]  # fmt: skip
        overlay.pin(low.id, pinned=False)
        overlay.promote(scratch.id)
        pack = overlay.pack("kettle", PackBudget(100, {"fact": 2}))
        assert pack.decisions[-1].dropped == "its kind's cap of 2 is reached"
        trace = pack.decisions[0].trace
        assert {"lexical_rank", "vector_rank", "mmr", "recency", "trust"} <= trace.keys()
        assert {"pinned", "tokens", "slot", "dropped"} <= trace.keys()


def test_updated_item_keeps_its_creation_time() -> None:
    clock = Clock()
    with RecordStore(clock=clock) as store:
        overlay = Overlay(store)
        first = overlay.upsert(OverlayItem("one", id="m1"))
        clock.now = HOUR
        second = overlay.upsert(OverlayItem("two", id="m1", ts=HOUR))
        assert (first.ts, second.ts, second.updated, overlay.get("m1").text) == (0, 0, HOUR, "two")
        assert [hit.id for hit in overlay.search("two")] == ["m1"]
        assert overlay.search("one", fusion=Fusion(vector_limit=0)) == []


def test_lane_in_extra_applies_until_promotion() -> None:
    with RecordStore(clock=Clock()) as store:
        overlay = Overlay(store)
        item = overlay.upsert(OverlayItem("the pump hums", extra={"lane": "episodic"}))
        assert (item.lane, item.durability) == ("episodic", "short")
        moved = overlay.promote(item.id)
        assert (moved.lane, moved.extra["lane"], overlay.get(item.id).lane) == ("semantic", "semantic", "semantic")
    assert OverlayItem("x", lane="profile", extra={"lane": "episodic"}).lane == "profile"
    for wrong in ("attic", 3, ["episodic"]):
        with pytest.raises(UsageError, match=r"extra\.lane"):
            OverlayItem("x", extra={"lane": wrong})


def test_lane_query_uses_the_index() -> None:
    with RecordStore(clock=Clock()) as store:
        clause, values = store._in_lane("semantic")
        query = f"EXPLAIN QUERY PLAN SELECT * FROM memory_records WHERE {clause} ORDER BY updated DESC, seq"  # noqa: S608
        assert "record_by_lane (lane=?)" in str(store.database.rows(query, *values))
