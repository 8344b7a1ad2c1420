"""Tripwire design from examples: spans of days on which it must trip, and days on which it must stay silent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import DataError, UsageError
from malsim.lab.tripwire.runs.episode_scores import scores
from malsim.lab.tripwire.runs.observation import observe
from malsim.memory.tables.connect import is_store
from malsim.netlist import parse
from malsim.netlist.language.statements import Load, Schedule, Set, Thread, Wire
from malsim.scenario.history.store_history import store_history
from malsim.scenario.rerun import again, read_manifest
from malsim.sim import bench
from malsim.sim.settings.netlist_config import NetlistConfig
from malsim.sim.settings.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

WIRING = (Load, Schedule, Set, Thread, Wire)
SCORES = {"eff": "effective", "curr": "currency"}
HOLDS = (1, 2, 3, 5)
PAIRED = 24  # maximum number of watches (one per score and side) to combine in pairs
FRESH = 20  # number of replications with fresh seeds in which the design's cost is measured
SHOWN = ("missed", "delay", "false alarms", "standing")


@dataclass(frozen=True)
class Watching:
    """Watch on one score of one cell. The watch trips when the score has been beyond `level` for `hold` ticks.

    `side` is `below` or `above`; for `below`, the signs of the values and of the level are reversed.
    """

    address: str
    side: str
    hold: int
    values: Floats
    level: float
    margin: float

    @property
    def ops(self) -> int:
        """Number of ops that the watch needs."""
        return 1 + (self.hold > 1)

    @property
    def on(self) -> Bools:
        """Mask (ticks × replications) of the values beyond the level."""
        return np.asarray(self.values > self.level)

    def __str__(self) -> str:
        duration = f" for {self.hold} ticks" if self.hold > 1 else ""
        return f"{self.address} {self.side} {abs(self.level):.4g}{duration} (margin {self.margin:.3g} either way)"

    def lines(self, name: str, target: str) -> list[str]:
        """Return the netlist lines of the watch, which writes the signal `target`. The hysteresis is half the margin."""
        timer = f"{name}-held"
        lines = [f"loadrt watch names={name}", f"net {name}-value {name}.in < {self.address}",
                 f"setp {name}.level {abs(self.level):.6g}", f"setp {name}.hysteresis {self.margin / 2:.6g}",
                 f"addf {name} tick"]  # fmt: skip
        if self.hold == 1:
            return [*lines, f"net {target} {name}.{self.side}"]
        return [*lines, f"loadrt ton names={timer}", f"net {name}-on {name}.{self.side} > {timer}.in",
                f"setp {timer}.delay {self.hold - 1}d", f"addf {timer} tick", f"net {target} {timer}.out"]  # fmt: skip


@dataclass(frozen=True)
class ExampleDesign:
    """Smallest netlist that separates alarm days from silent days: one watch, or two watches joined by `or2` or `and2`.

    `watches` is empty if no signal separates the two kinds of days. `cost` has the columns of `episode_scores.scores`,
    measured on fresh seeds or, for a store, on its history.
    """

    watches: tuple[Watching, ...]
    join: str
    nearest: str
    cost: pl.DataFrame
    where: str

    @property
    def text(self) -> str:
        """Netlist of the design as text. Its alarm is the signal `alarm`."""
        lines = [f"# trips if {f' {self.join} '.join(map(str, self.watches))}"]
        if len(self.watches) == 1:
            return "\n".join([*lines, *self.watches[0].lines("first", "alarm")]) + "\n"
        for name, watch in zip(("first", "second"), self.watches, strict=True):
            lines += watch.lines(name, f"{name}-bad")
        lines += [f"loadrt {self.join}2 names=joined", "net first-bad joined.in-0", "net second-bad joined.in-1",
                  "net alarm joined.out", "addf joined tick"]  # fmt: skip
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        if not self.watches:
            return f"these signals cannot separate these days; nearest: {self.nearest}"
        from malsim.showing.pages.tripwire_page import figure

        count = sum(watch.ops for watch in self.watches) + (len(self.watches) > 1)
        rows = [row for row in self.cost.to_dicts() if row["metric"] in SHOWN]
        return "\n".join([
            f"{count} op{'s' if count > 1 else ''}: {f' {self.join} '.join(map(str, self.watches))}", f"cost {self.where}:",
            *(f"  {row['metric']:<14}{figure(row, single=self.where.endswith('history'))}" for row in rows),
        ])  # fmt: skip


def design_from_examples(source: str | Path, speak: str, silent: str, *, seed: int = 1) -> ExampleDesign:
    """Find the smallest netlist that trips within each span of `speak` and stays silent on all days of `silent`.

    Parameters
    ----------
    source
        Folder of a recorded run, or a store with a history.
    speak, silent
        Spans of days: `6:9,33:` for days 6 to 9, and from 33 on.
    seed
        Seed of the replications on which the design's cost is measured.

    Raises
    ------
    UsageError
        If days cannot be parsed, overlap, or contain no tick.
    """
    scenario, days, values = _recorded(Path(source))
    spans, quiet = _spans(speak, days, "--speak"), np.any(_spans(silent, days, "--silent"), axis=0)
    if np.any(spans, axis=0)[quiet].any():
        raise UsageError("the spans overlap", where="--speak, --silent", given=f"{speak} and {silent}")
    candidates = sorted(_candidates(values, spans, quiet), key=lambda watch: (watch.margin <= 0, watch.ops, -watch.margin))
    if not candidates:
        raise DataError("no cell scores were recorded on these days", where=str(source))
    watches, join = ((candidates[0],), "") if candidates[0].margin > 0 else _pair(candidates, spans, quiet)
    nearest = max(candidates, key=lambda watch: watch.margin)
    design = ExampleDesign(watches, join, str(nearest), pl.DataFrame(), "")
    if not watches:
        return design
    if scenario is None:
        where = "on the history"
        alarm = (np.all if join == "and" else np.any)([watch.on for watch in watches], axis=0)
    else:
        where = f"on {FRESH} replications with fresh seeds"
        netlist, seed = _with_cells(scenario, design.text), seed + scenario.seed
        fresh = scenario.replace(netlist=netlist, checks=(), episodes=(), seed=seed, replications=FRESH)
        alarm = observe(fresh, "alarm").alarm
    trips = np.any(spans, axis=0)
    judged, truth = trips | quiet, np.broadcast_to(trips[:, None], alarm.shape)
    return replace(design, cost=scores(alarm[judged], truth[judged]), where=where)


def _with_cells(scenario: Scenario, text: str) -> NetlistConfig:
    """Return the netlist `text` preceded by the cell statements of the scenario's netlist."""
    document = parse(text)
    if scenario.netlist is None:
        return NetlistConfig(document=document)
    cells = [statement for statement in scenario.netlist.document.statements if not isinstance(statement, WIRING)]
    document = replace(document, statements=(*cells, *document.statements))
    return replace(scenario.netlist, document=document, inputs=())


def _recorded(path: Path) -> tuple[Scenario | None, Floats, dict[str, Floats]]:
    """Return the scenario (None for a store), the days, and each score of each cell as an array (ticks × replications)."""
    scenario = None
    if path.is_dir():
        manifest = path / "manifest.json"
        scenario = again(read_manifest(manifest), where=str(manifest)).replace(record="all", record_every=1)
        cells = bench.run(scenario).cells
    elif is_store(path):
        cells = store_history(path, Scenario(name=path.name, why="A store, read only.")).cells
    else:
        hint = "record a run with `malsim run SCENARIO -o FOLDER`"
        raise UsageError("neither a recorded run nor a store", given=str(path), hint=hint)
    days = cells["t"].unique().sort().to_numpy()
    reps = cells["rep"].unique().sort().to_list()
    values = {}
    for (cell,), rows in cells.group_by("cell", maintain_order=True):
        positions = np.searchsorted(days, rows["t"].to_numpy()), np.searchsorted(reps, rows["rep"].to_numpy())
        for field, column in SCORES.items():
            values[f"{cell}-scores-{field}"] = series = np.full((len(days), len(reps)), np.nan)
            series[positions] = rows[column].to_numpy()
    return scenario, days, values


def _spans(text: str, days: Floats, option: str) -> Bools:
    """Parse day spans such as `6:9,33:` into a mask (spans × ticks)."""
    rows = []
    for part in text.split(","):
        low, colon, high = part.partition(":")
        try:
            first = float(low) if low else -np.inf
            last = (float(high) if high else np.inf) if colon else first
        except ValueError:
            raise UsageError("not a span of days", where=option, given=part, allowed="DAY, FROM:TO, FROM: or :TO") from None
        rows.append((days >= first) & (days <= last))
        if not rows[-1].any():
            given, allowed = part, f"days {days[0]:g} to {days[-1]:g}"
            raise UsageError("no tick lies within this span", where=option, given=given, allowed=allowed)
    return np.array(rows)


def _candidates(values: Mapping[str, Floats], spans: Bools, quiet: Bools) -> Iterator[Watching]:
    """Yield a watch for each score, side and hold time, with its level midway between alarm-day and silent-day values."""
    for address, series in values.items():
        for side, sign in (("below", -1.0), ("above", 1.0)):
            beyond = np.where(np.isnan(series), -np.inf, sign * series)
            for hold in HOLDS:
                lasting = np.full_like(beyond, -np.inf)
                if hold <= len(beyond):
                    lasting[hold - 1 :] = np.lib.stride_tricks.sliding_window_view(beyond, hold, axis=0).min(axis=-1)
                low, high = lasting[quiet].max(), _peaks(lasting, spans).min()
                if np.isfinite(low) and np.isfinite(high):
                    yield Watching(address, side, hold, lasting, (low + high) / 2, (high - low) / 2)


def _peaks(values: Floats, spans: Bools) -> Floats:
    """Return the maximum within each span as an array (spans × replications)."""
    return np.array([values[span].max(axis=0) for span in spans])


def _pair(candidates: Sequence[Watching], spans: Bools, quiet: Bools) -> tuple[tuple[Watching, ...], str]:
    """Return the best pair of watches and the word `or` or `and` that joins them; empty if no pair works.

    The best pair has the fewest ops and then the widest margin.
    """
    pairs: list[tuple[tuple[int, float], tuple[Watching, ...], str]] = []
    distinct = {(watch.address, watch.side): watch for watch in sorted(candidates, key=lambda watch: watch.margin)}
    for first, second in combinations(sorted(distinct.values(), key=lambda watch: -watch.margin)[:PAIRED], 2):
        joined = {"or": _either(first, second, spans, quiet), "and": _both(first, second, spans, quiet)}
        for join, pair in joined.items():
            if pair and min(watch.margin for watch in pair) > 0:
                pairs.append(((first.ops + second.ops, -min(watch.margin for watch in pair)), pair, join))
    return min(pairs, key=lambda pair: pair[0])[1:] if pairs else ((), "")


def _either(first: Watching, second: Watching, spans: Bools, quiet: Bools) -> tuple[Watching, ...]:
    """Return the pair with both levels above all silent-day values, or () if neither watch trips in some span."""
    tops = [watch.values[quiet].max() for watch in (first, second)]
    reached = [_peaks(watch.values, spans) - top for watch, top in zip((first, second), tops, strict=True)]
    by_first = reached[0] >= reached[1]
    margins = [np.where(mask, reach, np.inf).min() / 2 for mask, reach in zip((by_first, ~by_first), reached, strict=True)]
    if not all(0 < margin < np.inf for margin in margins):
        return ()
    return tuple(
        replace(watch, level=top + margin, margin=margin)
        for watch, top, margin in zip((first, second), tops, margins, strict=True)
    )


def _both(first: Watching, second: Watching, spans: Bools, quiet: Bools) -> tuple[Watching, ...]:
    """Return the pair with both levels below the peaks, or () if the pair misses a span or trips on a silent day."""
    peaks = [_peaks(watch.values, spans).min() for watch in (first, second)]
    with_second = first.values[quiet][second.values[quiet] >= peaks[1]].max(initial=-np.inf)
    if not np.isfinite(with_second) or with_second >= peaks[0]:
        return ()
    first = replace(first, level=(peaks[0] + with_second) / 2, margin=(peaks[0] - with_second) / 2)
    with_first = second.values[quiet][first.on[quiet]].max(initial=-np.inf)
    if not np.isfinite(with_first) or with_first >= peaks[1]:
        return ()
    second = replace(second, level=(peaks[1] + with_first) / 2, margin=(peaks[1] - with_first) / 2)
    together = all((first.on & second.on)[span].any(axis=0).all() for span in spans)
    return (first, second) if together else ()
