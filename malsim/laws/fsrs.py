"""Treat facts as flash cards: a repetition is a passed review and a contradiction is a failed review.

    write:  each rival is reviewed with grade 1;  then same → with grade 3;  else an item, S = w2, D = D₀(3), clock = t
    score = R = (1 + F · ⌊age⌋ / S)^(−w20),  age from the clock,  F = .9^(−1/w20) − 1
    D₀(g) = w4 − e^(w5 (g − 1)) + 1;  D' = clamp(w7 D₀(4) + (1 − w7)(D − w6 (g − 3)(10 − D) / 9), 1, 10)
    S' within a day = S · k,  k = e^(w17 (g − 3 + w18)) S^(−w19), at least 1 for g ≥ 3;  later
    g = 1:  min(w11 D^(−w12) ((S + 1)^w13 − 1) e^((1 − R) w14), S / e^(w17 w18))
    g = 3:  S (1 + e^w8 (11 − D) S^(−w9) (e^((1 − R) w10) − 1));   S' ≥ .001;  clock = t

Recall is 1 right after any review, so both values tie on the day of a contradiction.
Source: open-spaced-repetition/py-fsrs v6.3.1, fsrs/scheduler.py, with its default weights w0 … w20.
Left out: learning steps, fuzzing, and due dates of cards.
Proven: equal on 50 of 50 drawn streams (to 1e-9): Scheduler.review_card and get_card_retrievability; the bench decides
the grade of each claim.

>>> from malsim.laws import play
>>> play("fsrs", "0 A", "1 B", "2 tick")
[('A', 0.857212), ('B', 0.946847)]
"""

import numpy as np

from malsim.laws.engine.items import Change, Claim, ItemField, Items, first, none
from malsim.memory.graph.arrays import Array

ordered = True
W = (
    0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796,
    1.4835, 0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542,
)  # fmt: skip
FACTOR = 0.9 ** (-1.0 / W[20]) - 1.0
LEAST = 0.001


def _difficulty(grade: int) -> float:
    return float(W[4] - np.exp(W[5] * (grade - 1)) + 1.0)


s = ItemField(W[2], "d", "stability: days until recall falls to .9")
d = ItemField(min(10.0, max(1.0, _difficulty(3))), "1", "difficulty, 1 to 10")
clock = ItemField("time", "d", "time of the last review")


def write(items: Items, claim: Claim) -> Change:
    again = first(claim.same)
    grade = np.where(claim.rival, 1, 3)
    reviewed = claim.rival | again
    raw = items["d"] - W[6] * (grade - 3) * (10.0 - items["d"]) / 9.0
    difficulty = np.clip(W[7] * _difficulty(4) + (1.0 - W[7]) * raw, 1.0, 10.0)
    columns = {
        "s": np.where(reviewed, _stability(items, claim.time, grade), items["s"]),
        "d": np.where(reviewed, difficulty, items["d"]),
        "clock": np.where(reviewed, claim.time, items["clock"]),
    }
    return Change(makes=none(again), taken=again, items=columns)


def rank(items: Items, now: float) -> Array:
    return _recall(items["s"], items.age(now, "clock"))


def _recall(s: Array, age: Array) -> Array:
    recall: Array = (1.0 + FACTOR * np.floor(age) / s) ** -W[20]
    return recall


def _stability(items: Items, now: Array, grade: Array) -> Array:
    s, d, age = items["s"], items["d"], items.age(now, "clock")
    lapse = 1.0 - _recall(s, age)
    step = np.exp(W[17] * (grade - 3 + W[18])) * s ** -W[19]
    soon = s * np.where(grade >= 3, np.maximum(step, 1.0), step)  # a grade of 3 or more is a pass
    forgot = W[11] * d ** -W[12] * ((s + 1.0) ** W[13] - 1.0) * np.exp(lapse * W[14])
    on_fail = np.minimum(forgot, s / np.exp(W[17] * W[18]))
    on_pass = s * (1.0 + np.exp(W[8]) * (11.0 - d) * s ** -W[9] * np.expm1(lapse * W[10]))
    later = np.where(grade == 1, on_fail, on_pass)
    return np.maximum(LEAST, np.where(age < 1.0, soon, later))
