"""Design of a tripwire from examples: spans of days in which it must speak, and days on which it must be silent."""

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
PAIRED = 24  # watches that are tried in pairs, one for each score and side
FRESH = 20  # replications on fresh seeds
SHOWN = ("missed", "delay", "false alarms", "standing")


@dataclass(frozen=True)
class Watching:
    """A watch on one score of one cell: beyond its level for `hold` ticks, on the side `below` or `above`."""

    address: str
    side: str
    hold: int
    values: Floats
    level: float = 0.0
    margin: float = 0.0

    @property
    def ops(self) -> int:
        """Number of ops."""
        return 1 + (self.hold > 1)

    def at(self, level: float, margin: float) -> Watching:
        """Return the watch with a level, in the direction in which it is exceeded, and its margin."""
        return Watching(self.address, self.side, self.hold, self.values, level, margin)

    @property
    def on(self) -> Bools:
        """Ticks × replications beyond the level."""
        return np.asarray(self.values > self.level)

    def __str__(self) -> str:
        duration = f" for {self.hold} ticks" if self.hold > 1 else ""
        return f"{self.address} {self.side} {abs(self.level):.4g}{duration} (margin {self.margin:.3g} either way)"

    def lines(self, name: str, target: str) -> list[str]:
        """Return its netlist, with hysteresis of half the margin, up to the wire that writes `target`."""
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
    """The smallest composition found: one watch, or two joined by `or2` or `and2`; none if `watches` is empty.

    `cost` has the figures of `episode_scores.scores`, on fresh seeds or, of a store, on its own history.
    """

    watches: tuple[Watching, ...]
    join: str
    nearest: str
    cost: pl.DataFrame
    where: str

    @property
    def text(self) -> str:
        """The netlist; its alarm is the signal `alarm`."""
        lines = [f"# speaks if {f' {self.join} '.join(map(str, self.watches))}"]
        if len(self.watches) == 1:
            return "\n".join([*lines, *self.watches[0].lines("first", "alarm")]) + "\n"
        for name, watch in zip(("first", "second"), self.watches, strict=True):
            lines += watch.lines(name, f"{name}-bad")
        lines += [f"loadrt {self.join}2 names=joined", "net first-bad joined.in-0", "net second-bad joined.in-1",
                  "net alarm joined.out", "addf joined tick"]  # fmt: skip
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        if not self.watches:
            return f"these signals cannot separate them; nearest: {self.nearest}"
        from malsim.showing.pages.tripwire_page import figure

        count = sum(watch.ops for watch in self.watches) + (len(self.watches) > 1)
        rows = [row for row in self.cost.to_dicts() if row["metric"] in SHOWN]
        return "\n".join([
            f"{count} op{'s' if count > 1 else ''}: {f' {self.join} '.join(map(str, self.watches))}", f"cost {self.where}:",
            *(f"  {row['metric']:<14}{figure(row, single=self.where.endswith('history'))}" for row in rows),
        ])  # fmt: skip


def design_from_examples(source: str | Path, speak: str, silent: str, *, seed: int = 1) -> ExampleDesign:
    """Find the smallest composition that speaks within each span of `speak` and is silent on all days of `silent`.

    Parameters
    ----------
    source
        Folder of a recorded run, or a store, whose history is read.
    speak, silent
        Spans of days: `6:9,33:` for days 6 to 9, and from 33 on.
    seed
        Seed of the replications in which the design's cost is measured.

    Raises
    ------
    UsageError
        Days that cannot be read, that overlap, or that hold no tick.
    """
    scenario, days, values = _recorded(Path(source))
    spans, quiet = _spans(speak, days, "--speak"), np.any(_spans(silent, days, "--silent"), axis=0)
    if np.any(spans, axis=0)[quiet].any():
        raise UsageError("the same days cannot be both", where="--speak, --silent", given=f"{speak} and {silent}")
    every = sorted(_candidates(values, spans, quiet), key=lambda watch: (watch.margin <= 0, watch.ops, -watch.margin))
    if not every:
        raise DataError("no score of a cell was recorded on these days", where=str(source))
    best = max(every, key=lambda watch: watch.margin)
    watches, join = ((every[0],), "") if every[0].margin > 0 else _pair(every, spans, quiet)
    design = ExampleDesign(watches, join, str(best), pl.DataFrame(), "on the history")
    if not watches:
        return design
    judged = np.any(spans, axis=0) | quiet
    alarm = (
        np.logical_and.reduce([item.on for item in watches])
        if join == "and"
        else np.any([item.on for item in watches], axis=0)
    )
    if scenario is not None:
        fresh = scenario.replace(
            netlist=_beside_cells(scenario, design.text),
            checks=(),
            episodes=(),
            seed=seed + scenario.seed,
            replications=FRESH,
        )
        alarm = observe(fresh, "alarm").alarm
    truth = np.broadcast_to(np.any(spans, axis=0)[:, None], alarm.shape)
    where = "on the history" if scenario is None else f"on {FRESH} replications with fresh seeds"
    return ExampleDesign(watches, join, "", scores(alarm[judged], truth[judged]), where)


def _beside_cells(scenario: Scenario, text: str) -> NetlistConfig:
    """Return a netlist with the cells of the scenario's own in front."""
    document = parse(text)
    if scenario.netlist is None:
        return NetlistConfig(document=document)
    cells = [item for item in scenario.netlist.document.statements if not isinstance(item, WIRING)]
    document = replace(document, statements=(*cells, *document.statements))
    return replace(scenario.netlist, document=document, inputs=())


def _recorded(path: Path) -> tuple[Scenario | None, Floats, dict[str, Floats]]:
    """Return the scenario of a run (None of a store), the days, and each score of each cell, ticks × replications."""
    scenario = None
    if path.is_dir():
        manifest = path / "manifest.json"
        scenario = again(read_manifest(manifest), where=str(manifest)).replace(record="all", record_every=1)
        cells = bench.run(scenario).cells
    elif is_store(path):
        cells = store_history(path, Scenario(name=path.name, why="A store, read only.")).cells
    else:
        raise UsageError("examples come from a recorded run or a store", given=str(path), hint="malsim run … -o FOLDER")
    days = cells["t"].unique().sort().to_numpy()
    reps = cells["rep"].unique().sort().to_list()
    values = {}
    for (cell,), rows in cells.group_by("cell", maintain_order=True):
        at = np.searchsorted(days, rows["t"].to_numpy()), np.searchsorted(reps, rows["rep"].to_numpy())
        for field, column in SCORES.items():
            values[f"{cell}-scores-{field}"] = series = np.full((len(days), len(reps)), np.nan)
            series[at] = rows[column].to_numpy()
    return scenario, days, values


def _spans(text: str, days: Floats, option: str) -> Bools:
    """Return spans × ticks, true within each span of days."""
    rows = []
    for part in text.split(","):
        low, colon, high = part.partition(":")
        try:
            first = float(low) if low else -np.inf
            last = (float(high) if high else np.inf) if colon else first
        except ValueError:
            raise UsageError("not a span of days", where=option, given=part, allowed="6, 6:9, 33: or :5") from None
        rows.append((days >= first) & (days <= last))
        if not rows[-1].any():
            given, allowed = part, f"days {days[0]:g} to {days[-1]:g}"
            raise UsageError("no tick lies within this span", where=option, given=given, allowed=allowed)
    return np.array(rows)


def _candidates(values: Mapping[str, Floats], spans: Bools, quiet: Bools) -> Iterator[Watching]:
    """Yield a watch per score, side and hold, at the middle between the speaking and the silent days."""
    for address, series in values.items():
        for side, sign in (("below", -1.0), ("above", 1.0)):
            beyond = np.where(np.isnan(series), -np.inf, sign * series)
            for hold in HOLDS:
                lasting = np.full_like(beyond, -np.inf)
                if hold <= len(beyond):
                    lasting[hold - 1 :] = np.lib.stride_tricks.sliding_window_view(beyond, hold, axis=0).min(axis=-1)
                low, high = lasting[quiet].max(), _reached(lasting, spans).min()
                if np.isfinite(low) and np.isfinite(high):
                    yield Watching(address, side, hold, lasting).at((low + high) / 2, (high - low) / 2)


def _reached(values: Floats, spans: Bools) -> Floats:
    """Return the greatest value in each span, spans × replications."""
    return np.array([values[span].max(axis=0) for span in spans])


def _pair(every: Sequence[Watching], spans: Bools, quiet: Bools) -> tuple[tuple[Watching, ...], str]:
    """Return the pair of watches, joined by `or` or `and`, with the fewest ops and the widest margins; nothing if none."""
    pairs: list[tuple[tuple[int, float], tuple[Watching, ...], str]] = []
    distinct = {(watch.address, watch.side): watch for watch in sorted(every, key=lambda watch: watch.margin)}
    for entry, other in combinations(sorted(distinct.values(), key=lambda watch: -watch.margin)[:PAIRED], 2):
        for join, pair in (("or", _either(entry, other, spans, quiet)), ("and", _both(entry, other, spans, quiet))):
            if pair and min(watch.margin for watch in pair) > 0:
                pairs.append(((entry.ops + other.ops, -min(watch.margin for watch in pair)), pair, join))
    return min(pairs, key=lambda item: item[0])[1:] if pairs else ((), "")


def _either(one: Watching, other: Watching, spans: Bools, quiet: Bools) -> tuple[Watching, ...]:
    """Return both with levels above their silent values, if each span is reached by one of them."""
    reached = [_reached(watch.values, spans) - watch.values[quiet].max() for watch in (one, other)]
    first = reached[0] >= reached[1]
    margins = [np.where(mine, reach, np.inf).min() / 2 for mine, reach in zip((first, ~first), reached, strict=True)]
    if not all(0 < margin < np.inf for margin in margins):
        return ()
    pairs = zip((one, other), margins, strict=True)
    return tuple(watch.at(watch.values[quiet].max() + margin, margin) for watch, margin in pairs)


def _both(one: Watching, other: Watching, spans: Bools, quiet: Bools) -> tuple[Watching, ...]:
    """Return both with levels below their speaking values, if they are never beyond them together on silent days."""
    tops = [_reached(watch.values, spans).min() for watch in (one, other)]
    with_other = one.values[quiet][other.values[quiet] >= tops[1]].max(initial=-np.inf)
    if not np.isfinite(with_other) or with_other >= tops[0]:
        return ()
    first = one.at((tops[0] + with_other) / 2, (tops[0] - with_other) / 2)
    with_first = other.values[quiet][first.on[quiet]].max(initial=-np.inf)
    if not np.isfinite(with_first) or with_first >= tops[1]:
        return ()
    second = other.at((tops[1] + with_first) / 2, (tops[1] - with_first) / 2)
    together = all((first.on & second.on)[span].any(axis=0).all() for span in spans)
    return (first, second) if together else ()
