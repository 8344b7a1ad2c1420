"""Who stands where: rankings by each column that is drawn, and where an order turns on the grid of noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import UsageError
from malsim.board.chances import NOISE, POPULATIONS
from malsim.board.figures import replication_means
from malsim.lab.studies.paired_ranking import rank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.board.figures import Figure, Metric
    from malsim.lab.studies.paired_ranking import Ranking

ENOUGH = 3  # noise rates of four
DIGITS = 6


def ranking_of(metric: Metric, figures: Mapping[str, Figure]) -> Ranking | None:
    """The ranking of the rows that have a number in every replication; None where there are fewer than two."""
    values = {name: replication_means(figure.parts) for name, figure in figures.items()}
    return _rank({name: each for name, each in values.items() if len(each) and np.isfinite(each).all()}, metric)


def _rank(values: Mapping[str, Any], metric: Metric) -> Ranking | None:
    try:
        return rank(values, higher_is_better=metric.better == "higher")
    except UsageError:  # too few rows or replications, or rows of several sizes
        return None


def standing(metrics: Sequence[Metric], figures: Mapping[str, Mapping[str, Figure]]) -> dict[str, Any]:
    """By ranked metric: replications, by row its places, and the groups that are not told apart. As plain data.

    `above` names by their places among the rows those that a row is shown to be better than.
    """
    places: dict[str, Any] = {}
    for metric in metrics:
        ranking = ranking_of(metric, figures[metric.name]) if metric.ranked else None
        if ranking is not None:
            rows = {
                row["name"]: {"first": row["first"], "last": row["last"], "value": _round(row["value"]),
                              "low": _round(row["low"]), "high": _round(row["high"]),
                              "above": np.flatnonzero(ranking.better[place]).tolist()}
                for place, row in enumerate(ranking.frame.to_dicts())
            }  # fmt: skip
            places[metric.name] = {"n": ranking.n, "level": ranking.level, "rows": rows, "groups": ranking.groups}
    return places


def noise_grid(metric: Metric, figures: Mapping[str, Figure]) -> dict[str, Any]:
    """Orders that count: shown at three noise rates of four in each population; and those that turn somewhere.

    `counts` has by row those it is shown to be better than; `turns` has one, other, the conditions where the one is shown to
    be better, and those where the other is.
    """
    rankings = {}
    for condition in (f"{population}, noise {noise:g}" for population in POPULATIONS for noise in NOISE):
        values = {name: np.array(each.parts[condition], dtype=np.float64)
                  for name, each in figures.items() if condition in each.parts}  # fmt: skip
        ranking = _rank({name: each for name, each in values.items() if np.isfinite(each).all()}, metric)
        if ranking is None:
            return {"counts": {}, "turns": []}
        rankings[condition] = ranking
    names = sorted(set.intersection(*(set(ranking.names) for ranking in rankings.values())))
    better = np.array([_better(ranking, names) for ranking in rankings.values()])
    enough = better.reshape(len(POPULATIONS), len(NOISE), len(names), len(names)).sum(axis=1) >= ENOUGH
    counts = {name: [names[j] for j in np.flatnonzero(enough.all(axis=0)[i])] for i, name in enumerate(names)}
    both = np.argwhere(np.triu(better.any(axis=0) & better.any(axis=0).T))
    where = list(rankings)
    turns = [
        [names[i], names[j], *([where[place] for place in np.flatnonzero(better[:, a, b])] for a, b in ((i, j), (j, i)))]
        for i, j in both.tolist()
    ]
    return {"counts": {name: below for name, below in counts.items() if below}, "turns": turns}


def _better(ranking: Ranking, names: Sequence[str]) -> Any:
    order = [ranking.names.index(name) for name in names]
    return ranking.better[np.ix_(order, order)]


def _round(value: float) -> float:
    return round(value, DIGITS)
