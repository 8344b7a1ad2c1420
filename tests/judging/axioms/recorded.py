"""What every shipped law breaks, and why; the models are minimal, the figures no verdict on today's products."""

SWEEP = "a sweep takes its decay off the already decayed number"
ECHO = "every repetition raises or renews, whoever repeats"
TIE = "nothing ranks the returned value above its rival: a tie is no lead"
LAST = "the claim that arrives last wins, whatever its time"
ORDER = "of claims of one instant the later in the call decides"
USE = "a use counts as evidence"
ADDS = "rivals do not lower each other enough"
EDGES = "streams carry no edges, so nothing tells it that two claims contradict each other"
LONE = "a claim that nobody speaks against is believed more than it states"
UNSWEPT = "by design: until its first sweep an item is worth what it states"
TWICE = "a delivery is taken for a voice, or for a use"
SUM = "every voice raises or lowers by the same, until a bound; so more voices do not lead"
VERIFIED = "these streams verify every claim of a graph from outside, and what was verified last is taken for true"
FORMER = "a writer's former word keeps its worth"
FRESH = "the newest leads, whoever says it"
SPLIT = "a vote: where one of two voices returns, the votes tie"
OWN = "a liar is always agreed with by himself where nobody else speaks, and earns a record there"
DERIVED = "derived_from has the weight 0"
CONFIDENCE = "a second voice that states less lowers the value"
KEEPS_AGE = "a claim that comes again keeps the age of the first"

KNOWN: dict[str, dict[str, str]] = {
    "mal": {
        "consistency": EDGES,
        "derived-falls": DERIVED,
        "edge-target": "a contradiction is mutual in these streams, so it lowers the claim that makes it too",
        "last-word": EDGES,
        "outvoted": EDGES,
        "self-support": "the support of a claim by its own writer counts; guarded rules leave it out",
        "settling": "three mutual rivals of .3 ring under the plain tick; damping cures it",
        "truth-may-return": EDGES,
    },
    "guarded": {"consistency": UNSWEPT, "derived-falls": DERIVED, "echo-independence": VERIFIED},
    "recall_v5": {
        "consistency": EDGES,
        "derived-falls": DERIVED,
        "last-word": EDGES,
        "outvoted": EDGES,
        "truth-may-return": EDGES,
    },
    "abes": {
        "anchor": SWEEP,
        "cadence": SWEEP,
        "consistency": ADDS,
        "echo-independence": ECHO,
        "last-word": FORMER,
        "survival-floor": "at .995 an hour a lesson of .7 is gone within days",
        "truth-may-return": FORMER,
    },
    "act_r": {
        "delivered-twice": TWICE,
        "echo-independence": ECHO,
        "last-word": ECHO,
        "read-idempotence": "by design: a use is a presentation",
        "read-keeps-lead": "the same",
    },
    "agentmemory_lessons": {
        "cadence": "a sweep waits for a whole week",
        "consistency": ADDS,
        "delivered-twice": TWICE,
        "echo-independence": ECHO,
        "last-word": ADDS,
        "long-history": FORMER,
        "reachability": "its floor lies below what a query shows",
        "survival-floor": "what nobody repeats is gone in three months",
        "truth-may-return": ADDS,
    },
    "arw": {
        "earlier-support": KEEPS_AGE,
        "echo-independence": FRESH,
        "half-life-halves": "what halves is recency, a fifth of the score",
        "outvoted": TIE,
        "reinforcement": CONFIDENCE,
        "survival-floor": "records end after 90 days",
        "truth-may-return": "a claim that comes again keeps its age, and its end",
    },
    "average": {
        "batching": ORDER,
        "delivered-twice": TWICE,
        "echo-independence": ECHO,
        "last-word": FORMER,
        "outvoted": FORMER,
        "reinforcement": CONFIDENCE,
        "truth-may-return": FORMER,
    },
    "caura": {
        "batching": ORDER,
        "earlier-support": KEEPS_AGE,
        "echo-independence": ECHO,
        "last-word": "what was marked as outdated stays marked",
        "read-idempotence": USE,
        "truth-may-return": "what was marked as outdated stays marked",
    },
    "crh": {"own-facts": OWN, "truth-may-return": SPLIT, "vacuity": LONE},
    "dawid_skene": {
        "locality": "values are one set of classes for all objects",
        "own-facts": OWN,
        "polarity": "a lone dissenter is taken for one who is always wrong",
        "track-record": "of two who err it takes the wrong one for the one that inverts",
        "truth-may-return": SPLIT,
        "vacuity": LONE,
    },
    "egc": {
        "anchor": SWEEP,
        "cadence": SWEEP,
        "consistency": ADDS,
        "last-word": TIE,
        "outvoted": TIE,
        "survival-floor": "compounded sweeps archive a lesson of .7 on day 45",
        "truth-may-return": TIE,
    },
    "engram": {
        "batching": ORDER,
        "consistency": ADDS,
        "delivered-twice": TWICE,
        "earlier-support": KEEPS_AGE,
        "last-word": FORMER,
        "outvoted": FORMER,
        "read-idempotence": USE,
        "truth-may-return": FORMER,
    },
    "evolvemem": {
        "anchor": SWEEP,
        "cadence": SWEEP,
        "earlier-support": KEEPS_AGE,
        "echo-independence": ECHO,
        "last-word": TIE,
        "outvoted": TIE,
        "truth-may-return": TIE,
    },
    "fsrs": {
        "batching": ORDER,
        "delivered-twice": TWICE,
        "echo-independence": ECHO,
        "last-word": TIE,
        "late-arrival": LAST,
        "outvoted": TIE,
        "polarity": "a failed review renews the item that failed",
        "truth-may-return": "a tie within a day",
    },
    "generative_agents_code": {
        "batching": ORDER,
        "delivered-twice": TWICE,
        "echo-independence": "nodes are sorted oldest first",
        "last-word": "the same",
        "late-arrival": LAST,
        "locality": "scores are normalised over all items",
        "newer-not-below-older": "nodes are sorted oldest first",
        "outvoted": "the same",
        "polarity": "scores are normalised over all items",
        "read-idempotence": USE,
        "read-keeps-lead": USE,
        "truth-may-return": "the same",
    },
    "generative_agents_paper": {"echo-independence": FRESH, "read-idempotence": USE, "read-keeps-lead": USE},
    "graphiti": {
        "consistency": "of two values of one instant neither ends the other",
        "echo-independence": "what was said once is never said anew",
        "last-word": "what was said once is never said anew",
        "truth-may-return": "the same",
    },
    "hindsight": {"delivered-twice": TWICE, "echo-independence": ECHO, "last-word": ECHO, "long-history": FORMER},
    "last_write": {"batching": LAST, "echo-independence": FRESH, "late-arrival": LAST},
    "majority": {"truth-may-return": SPLIT},
    "mem0_additive": {"last-word": TIE, "outvoted": TIE, "truth-may-return": TIE},
    "mem0_delete": {
        "batching": ORDER,
        "delivered-twice": "a delivery after a deletion puts it back",
        "echo-independence": "the second repetition is added, after the first deleted the rival",
        "last-word": "nothing is left of it",
        "late-arrival": "a late claim deletes the newer fact and adds nothing",
        "total-evidence": "the contradiction deletes the old fact and adds nothing",
        "truth-may-return": "the same",
    },
    "mem0_update": {"batching": ORDER, "echo-independence": FRESH, "late-arrival": LAST},
    "membrane": {
        "anchor": SWEEP,
        "batching": ORDER,
        "cadence": SWEEP,
        "echo-independence": FRESH,
        "late-arrival": LAST,
        "survival-floor": "compounded sweeps delete within a month",
    },
    "membrane_anchored": {"batching": ORDER, "echo-independence": FRESH, "late-arrival": LAST},
    "memex": {
        "batching": ORDER,
        "consistency": "one contradiction takes .2 off a belief of 1",
        "delivered-twice": TWICE,
        "echo-independence": FRESH,
    },
    "memorybank_intended": {"anchor": SWEEP, "cadence": SWEEP, "last-word": "a tie within a day"},
    "memorybank_shipped": {
        "anchor": SWEEP,
        "cadence": SWEEP,
        "last-word": "a tie within a day",
        "reinforcement": "the exponent has strength above and not below: a recall speeds forgetting",
    },
    "mma": {
        "batching": ORDER,
        "consistency": ADDS,
        "delivered-twice": TWICE,
        "earlier-support": "an old claim lends its age to what agrees with it",
        "echo-independence": ECHO,
        "last-word": ECHO,
        "late-arrival": ORDER,
        "locality": "it weighs the whole memory",
        "polarity": "similarity counts as support, a contradiction's too",
        "read-idempotence": "a read computes anew, from what it computed before",
        "vacuity": "it weighs the whole memory",
    },
    "records": {
        "consistency": UNSWEPT,
        "success": "by design: one voice without a record is believed at .44 after a sweep",
        "truth-may-return": SPLIT,
    },
    "sequential": {
        "batching": "by design: claims are judged in order of arrival",
        "delivered-twice": TWICE,
        "echo-independence": "by design: the first is accepted",
        "late-arrival": "by design: the same",
        "outvoted": "by design: the same",
        "truth-may-return": "by design: the same; what was seconded twice is locked",
    },
    "shodh": {
        "cadence": "a sweep resets the clock",
        "delivered-twice": TWICE,
        "echo-independence": ECHO,
        "last-word": ECHO,
        "late-arrival": "an agreement of an earlier day sets the clock back",
    },
    "stored_score": {"consistency": "by design: a score is never recomputed", "outvoted": TIE, "truth-may-return": TIE},
    "truthfinder": {
        "consistency": UNSWEPT,
        "outvoted": "beliefs saturate: eleven voices and twelve both give 1 in floating point",
        "truth-may-return": SPLIT,
        "vacuity": LONE,
    },
    "yourmemory": {"last-word": ECHO, "outvoted": TIE, "truth-may-return": TIE},
}
