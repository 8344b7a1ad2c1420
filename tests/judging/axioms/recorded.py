"""Axioms that each shipped law breaks, with reasons. Laws are simplified models, not judgements of products."""

SWEEP = "a tick applies the decay to the already decayed score"
ECHO = "every repetition raises or renews a value, even by the same writer"
TIE = "nothing ranks the returned value above its rival, and a tie is not a lead"
LAST = "the claim that arrives last wins, whatever its time"
ORDER = "the later of two claims of one instant in a call decides"
USE = "a use counts as evidence"
ADDS = "rivals do not lower each other enough"
EDGES = "streams have no edges, so the law does not know that two claims contradict each other"
POOLED = "by design: error rates are estimated from all claims, so a claim about another object moves a belief"
LONE = "an uncontested claim is believed more than it states"
UNSWEPT = "by design: until its first tick an item has its stated confidence"
TWICE = "a repeated delivery counts as a writer or as a use"
VERIFIED = "these streams verify every claim of a graph externally, and the value verified last counts as true"
FORMER = "a writer's earlier claim keeps its weight"
FRESH = "the newest value leads, whoever claims it"
SPLIT = "a vote: if one of two writers returns, the votes tie"
OWN = "a liar agrees with itself about objects that nobody else mentions, and earns a record there"
DERIVED = "derived_from has the weight 0"
CONFIDENCE = "a second writer who states less lowers the value"
KEEPS_AGE = "a repeated claim keeps the age of the first"

KNOWN: dict[str, dict[str, str]] = {
    "mal": {
        "consistency": EDGES,
        "derived-falls": DERIVED,
        "edge-target": "a contradiction is mutual in these streams, so it lowers its source too",
        "last-word": EDGES,
        "outvoted": EDGES,
        "self-support": "the support of a claim by its own writer counts; guarded rules leave it out",
        "settling": "three mutual rivals of .3 oscillate under the plain tick; damping cures that",
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
        "survival-floor": "at .995 per hour a lesson of .7 is deleted within days",
        "truth-may-return": FORMER,
    },
    "act_r": {
        "delivered-twice": TWICE,
        "echo-independence": ECHO,
        "last-word": ECHO,
        "read-idempotence": "by design: a use is a presentation",
        "read-keeps-lead": "by design: a use is a presentation",
    },
    "agentmemory_lessons": {
        "cadence": "a sweep acts after whole weeks only",
        "consistency": ADDS,
        "delivered-twice": TWICE,
        "echo-independence": ECHO,
        "last-word": ADDS,
        "long-history": FORMER,
        "reachability": "its floor is below the least score that a query shows",
        "survival-floor": "a lesson that nobody repeats is deleted in three months",
        "truth-may-return": ADDS,
    },
    "arw": {
        "earlier-support": KEEPS_AGE,
        "echo-independence": FRESH,
        "half-life-halves": "only recency halves, a fifth of the score",
        "outvoted": TIE,
        "reinforcement": CONFIDENCE,
        "survival-floor": "records end after 90 days",
        "truth-may-return": "a repeated claim keeps its age and its end",
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
        "last-word": "an item marked as outdated stays marked",
        "read-idempotence": USE,
        "truth-may-return": "an item marked as outdated stays marked",
    },
    "crh": {"own-facts": OWN, "truth-may-return": SPLIT, "vacuity": LONE},
    "dawid_skene": {
        "locality": "values are one set of classes for all objects",
        "own-facts": OWN,
        "polarity": "a lone dissenter counts as a writer who is always wrong",
        "track-record": "it takes the wrong one of two erring writers for the one who inverts values",
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
        "echo-independence": "nodes are sorted with the oldest first",
        "last-word": "see last-word",
        "late-arrival": LAST,
        "locality": "scores are normalised over all items",
        "newer-not-below-older": "nodes are sorted with the oldest first",
        "outvoted": "see last-word",
        "polarity": "scores are normalised over all items",
        "read-idempotence": USE,
        "read-keeps-lead": USE,
        "truth-may-return": "see last-word",
    },
    "generative_agents_paper": {"echo-independence": FRESH, "read-idempotence": USE, "read-keeps-lead": USE},
    "graphiti": {
        "consistency": "two values of one instant do not end each other",
        "echo-independence": "a value that was claimed once is never claimed again",
        "last-word": "a value that was claimed once is never claimed again",
        "truth-may-return": "see last-word",
    },
    "hindsight": {"delivered-twice": TWICE, "echo-independence": ECHO, "last-word": ECHO, "long-history": FORMER},
    "last_write": {"batching": LAST, "echo-independence": FRESH, "late-arrival": LAST},
    "majority": {"truth-may-return": SPLIT},
    "mem0_additive": {"last-word": TIE, "outvoted": TIE, "truth-may-return": TIE},
    "mem0_delete": {
        "batching": ORDER,
        "delivered-twice": "a delivery after a deletion restores the value",
        "echo-independence": "the second repetition is added, after the first deleted the rival",
        "last-word": "no item remains",
        "late-arrival": "a late claim deletes the newer fact and adds nothing",
        "total-evidence": "the contradiction deletes the old fact and adds nothing",
        "truth-may-return": "see last-word",
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
        "reinforcement": "strength is in the numerator of the exponent, so a recall speeds forgetting",
    },
    "mma": {
        "batching": ORDER,
        "consistency": ADDS,
        "delivered-twice": TWICE,
        "earlier-support": "an old claim adds its age to agreeing claims",
        "echo-independence": ECHO,
        "last-word": ECHO,
        "late-arrival": ORDER,
        "locality": "it reads the whole memory",
        "polarity": "similarity counts as support, even that of a contradiction",
        "read-idempotence": "a read computes from the result of the previous read",
        "vacuity": "it reads the whole memory",
    },
    "records": {
        "batching": "the order of writers changes the rounding of its sums",
        "locality": POOLED,
        "success": "by design: one writer without a record is believed at .44",
        "truth-may-return": SPLIT,
        "vacuity": POOLED,
    },
    "sequential": {
        "batching": "by design: claims are judged in order of arrival",
        "delivered-twice": TWICE,
        "echo-independence": "by design: the first claim is accepted",
        "late-arrival": "by design: the first claim is accepted",
        "outvoted": "by design: the first claim is accepted",
        "truth-may-return": "by design: a value that was seconded twice is locked",
    },
    "shodh": {
        "cadence": "a tick resets the clock",
        "delivered-twice": TWICE,
        "echo-independence": ECHO,
        "last-word": ECHO,
        "late-arrival": "an earlier agreeing claim sets the clock back",
    },
    "stored_score": {"consistency": "by design: a score is never recomputed", "outvoted": TIE, "truth-may-return": TIE},
    "truthfinder": {
        "consistency": UNSWEPT,
        "outvoted": "beliefs saturate: eleven and twelve writers both give 1 in floating point",
        "truth-may-return": SPLIT,
        "vacuity": LONE,
    },
    "yourmemory": {"last-word": ECHO, "outvoted": TIE, "truth-may-return": TIE},
}
