"""What every shipped law breaks, and why; the models are minimal, the figures no verdict on today's products."""

SWEEP = "a sweep takes its decay off the already decayed number"
ECHO = "every repetition raises or renews, whoever repeats"
TIE = "nothing ranks the returned value above its rival: a tie is no lead"
LAST = "the claim that arrives last wins, whatever its time"
ORDER = "of claims of one instant the later in the call decides"
USE = "a use counts as evidence"
ADDS = "rivals do not lower each other enough"
EDGES = "streams carry no edges, so nothing tells it that two claims contradict each other"
UNSWEPT = "by design: until its first sweep an item is worth what it states"
OWN = "a liar is always agreed with by himself where nobody else speaks, and earns a record there"
DERIVED = "derived_from has the weight 0"

KNOWN: dict[str, dict[str, str]] = {
    "mal": {"consistency": EDGES, "truth-may-return": EDGES, "derived-falls": DERIVED,
            "settling": "three mutual rivals of .3 ring under the plain tick; damping cures it"},
    "guarded": {"consistency": UNSWEPT, "truth-may-return": UNSWEPT, "derived-falls": DERIVED},
    "recall_v5": {"consistency": EDGES, "truth-may-return": EDGES, "derived-falls": DERIVED},
    "abes": {"anchor": SWEEP, "cadence": SWEEP, "consistency": ADDS, "echo-independence": ECHO,
             "survival-floor": "at .995 an hour a lesson of .7 is gone within days"},
    "act_r": {"echo-independence": ECHO, "read-idempotence": "by design: a use is a presentation"},
    "agentmemory_lessons": {"cadence": "a sweep waits for a whole week", "consistency": ADDS, "echo-independence": ECHO,
                            "reachability": "its floor lies below what a query shows"},
    "arw": {"half-life-halves": "what halves is recency, a fifth of the score"},
    "average": {"batching": ORDER, "echo-independence": ECHO},
    "caura": {"batching": ORDER, "echo-independence": ECHO, "read-idempotence": USE,
              "truth-may-return": "what was marked as outdated stays marked"},
    "crh": {"consistency": UNSWEPT, "own-facts": OWN},
    "dawid_skene": {"consistency": UNSWEPT, "own-facts": OWN},
    "e_folding": {"half-life-halves": "the constant is an e-folding time",
                  "reachability": "of a half-life of 6 h nothing is left after months: 0 in floating point"},
    "egc": {"anchor": SWEEP, "cadence": SWEEP, "consistency": ADDS, "truth-may-return": TIE,
            "survival-floor": "compounded sweeps archive a lesson of .7 on day 45"},
    "engram": {"read-idempotence": USE},
    "evolvemem": {"anchor": SWEEP, "cadence": SWEEP, "truth-may-return": TIE},
    "fsrs": {"batching": ORDER, "late-arrival": LAST, "truth-may-return": "a tie within a day",
             "polarity": "a failed review renews the item that failed"},
    "generative_agents_code": {
        "batching": ORDER, "late-arrival": LAST, "newer-not-below-older": "nodes are sorted oldest first",
        "locality": "scores are normalised over all items", "polarity": "scores are normalised over all items",
    },
    "generative_agents_paper": {"read-idempotence": USE},
    "graphiti": {"echo-independence": "what was said once is never said anew", "truth-may-return": "the same"},
    "graphiti_everywhere": {
        "echo-independence": "what was said once is never said anew", "truth-may-return": "the same",
        "locality": "it looks for contradictions in the whole graph", "vacuity": "the same",
    },
    "hindsight": {"echo-independence": ECHO},
    "last_write": {"batching": LAST, "late-arrival": LAST},
    "mem0_additive": {"truth-may-return": TIE},
    "mem0_delete": {"total-evidence": "the contradiction deletes the old fact and adds nothing"},
    "mem0_update": {"batching": ORDER, "late-arrival": LAST},
    "membrane": {"anchor": SWEEP, "batching": ORDER, "cadence": SWEEP, "late-arrival": LAST,
                 "survival-floor": "compounded sweeps delete within a month"},
    "membrane_anchored": {"batching": ORDER, "late-arrival": LAST},
    "memex": {"batching": ORDER, "consistency": "one contradiction takes .2 off a belief of 1"},
    "memorybank_intended": {"anchor": SWEEP, "cadence": SWEEP, "truth-may-return": TIE},
    "memorybank_shipped": {"anchor": SWEEP, "cadence": SWEEP, "truth-may-return": TIE,
                           "reinforcement": "the exponent has strength above and not below: a recall speeds forgetting"},
    "mma": {"batching": ORDER, "consistency": ADDS, "echo-independence": ECHO, "late-arrival": ORDER,
            "locality": "it weighs the whole memory", "polarity": "similarity counts as support, a contradiction's too",
            "vacuity": "it weighs the whole memory"},
    "muninn": {"echo-independence": ECHO},
    "records": {"consistency": UNSWEPT},
    "sequential": {"batching": "by design: claims are judged in order of arrival", "late-arrival": "by design: the same"},
    "stored_score": {"consistency": "by design: a score is never recomputed"},
    "shodh": {"cadence": "a sweep resets the clock", "echo-independence": ECHO},
    "truthfinder": {"consistency": UNSWEPT},
    "yourmemory": {"truth-may-return": TIE},
}  # fmt: skip
