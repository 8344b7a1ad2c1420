"""A capture: the samples of a record and how they are shown, in one file that opens again as it was."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import DataError, MalsimError
from malsim.base.files.outputs import whole_file
from malsim.base.files.table_files import read_table
from malsim.base.finite import finite
from malsim.lab.scope.trigger import Trigger

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from malsim.showing.plots.style import Sheet

SAMPLES = {"t": pl.Float64, "channel": pl.String, "value": pl.Float64}
CHANNELS = {
    "channel": pl.String, "address": pl.String, "gain": pl.Float64, "offset": pl.Float64, "digital": pl.Boolean,
}  # fmt: skip
EVENTS = {"t": pl.Float64, "kind": pl.String, "subject": pl.String, "detail": pl.String, "cause": pl.String}
KEY = "malsim.scope"
_BARS = "▁▂▃▄▅▆▇█"
_UNREADABLE = (
    pl.exceptions.PolarsError, OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError,
)  # fmt: skip


def _sound(frame: pl.DataFrame, kinds: Mapping[str, Any]) -> pl.DataFrame:
    """The frame, where its columns are these and all that names or dates a row is there; else `DataError`."""
    if dict(frame.schema) != dict(kinds):
        raise DataError("other columns than a capture's", given=str(dict(frame.schema))[:100])
    names = [name for name in frame.columns if name != "value"]
    if frame.select(pl.any_horizontal(pl.col(names).is_null()).any()).item():
        raise DataError("rows without a name or a time")
    if "t" in kinds and not frame["t"].is_finite().all():
        raise DataError("times that are no numbers")
    return frame


@dataclass(frozen=True, kw_only=True, eq=False)
class Capture:
    """What a scope captured; values are as recorded, in days and in each value's own unit.

    `samples` (t, channel, value) has a row a tick and channel, null where there is no value, `channels` (channel, address,
    gain, offset, digital) how each is shown, `events` (t, kind, subject, detail, cause) what is marked, `triggered` the
    day the trigger fired.
    """

    samples: pl.DataFrame
    channels: pl.DataFrame
    events: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EVENTS))
    trigger: Trigger | None = None
    triggered: float | None = None
    cursors: tuple[float, ...] = ()
    title: str = ""

    @property
    def readings(self) -> pl.DataFrame:
        """Every channel read off at every cursor: cursor, channel, t of the tick that holds there, value.

        Between ticks stands the value of the tick before; before a channel's first tick there is none.
        """
        frames = [pl.DataFrame(schema={"cursor": pl.Float64, **SAMPLES})]
        for day in self.cursors:
            past = self.samples.filter(pl.col("t") <= day).group_by("channel", maintain_order=True).last().drop_nulls()
            frames.append(past.select(pl.lit(day).alias("cursor"), "t", "channel", "value"))
        names = self.channels["channel"].to_list()
        return (
            pl.concat(frames)
            .select("cursor", "channel", "t", "value")
            .sort("cursor", pl.col("channel").cast(pl.Enum(names)), maintain_order=True)
        )

    @property
    def figure(self) -> Sheet:
        """The screen as a matplotlib figure."""
        from malsim.showing.plots.runs.scope_screen import scope

        return scope(
            self.samples,
            self.channels,
            self.events,
            triggered=self.triggered,
            level=(self.trigger.on, self.trigger.level) if self.trigger else None,
            readings=self.readings,
            cursors=self.cursors,
            title=self.title,
        )

    def _repr_png_(self) -> bytes:
        return self.figure._repr_png_()

    def save(self, path: str | Path) -> Path:
        """Write it as one Parquet file, all but the samples as its metadata; as `.csv` the samples alone."""
        path = Path(path)
        if path.suffix == ".csv":
            with whole_file(path) as place:
                self.samples.write_csv(place)
            return path
        about = {
            "channels": self.channels.to_dicts(), "events": self.events.to_dicts(),
            "trigger": asdict(self.trigger) if self.trigger else None, "triggered": self.triggered,
            "cursors": self.cursors, "title": self.title,
        }  # fmt: skip
        with whole_file(path) as place:
            self.samples.write_parquet(place, metadata={KEY: json.dumps(about, ensure_ascii=False)})
        return path

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a capture that `save` wrote."""
        if not Path(path).is_file():
            raise DataError("no such file", where=str(path), hint="check the path")
        hint = "a capture is what malsim scope --save, or Capture.save, wrote"
        try:
            samples = read_table(path, default=".parquet")
            about = json.loads(pl.read_parquet_metadata(path)[KEY])
            if not set(samples["channel"]) <= {one["channel"] for one in about["channels"]}:
                raise DataError("samples of a channel that it does not name")
            return cls(
                samples=_sound(samples, SAMPLES),
                channels=_sound(pl.DataFrame(about["channels"], schema=CHANNELS), CHANNELS),
                events=pl.DataFrame(about["events"], schema=EVENTS),
                trigger=Trigger(**about["trigger"]) if about["trigger"] else None,
                triggered=None if about["triggered"] is None else finite(about["triggered"], where="triggered"),
                cursors=tuple(finite(day, where="cursors") for day in about["cursors"]), title=str(about["title"]),
            )  # fmt: skip
        except MalsimError as error:
            raise DataError(f"this is no capture: {error.problem}", where=str(path), hint=hint) from error
        except _UNREADABLE as error:
            raise DataError("this is no capture", where=str(path), hint=hint) from error

    def __str__(self) -> str:
        """The screen in letters: a line a channel, a mark a tick, for terminals without pictures."""
        ticks = self.samples["t"].unique().sort()
        wide = max((len(name) for name in self.channels["channel"]), default=0)
        lines = [self.title] if self.title else []
        lines += [f"{row['channel']:<{wide}}  {_trace(self.samples, row, ticks)}" for row in self.channels.to_dicts()]
        if self.triggered is not None:
            lines.append(" " * (wide + 2 + int((ticks < self.triggered).sum())) + f"^ trigger, day {self.triggered:g}")
        if ticks.len():
            lines.append(f"{'':<{wide}}  day {ticks[0]:g} to {ticks[-1]:g}, {ticks.len()} ticks")
        for row in self.readings.to_dicts():
            lines.append(f"at {row['cursor']:g}: {row['channel']} {row['value']:.7g}")
        return "\n".join(lines)


def _trace(samples: pl.DataFrame, channel: dict[str, object], ticks: pl.Series) -> str:
    """A mark a tick between the channel's least and most, a blank where it had no value, and the range."""
    own = samples.filter(pl.col("channel") == channel["channel"])
    values = pl.DataFrame({"t": ticks}).join(own, on="t", how="left", maintain_order="left")["value"]
    present = values.filter(values.is_finite())
    if present.is_empty():
        return "no finite value"
    low, high = float(present.min()), float(present.max())  # type: ignore[arg-type]  # polars types the least of any column
    marks = "▁▇" if channel["digital"] else _BARS
    place = ((values.clip(low, high) - low) / ((high - low) or 1.0) * len(marks)).clip(upper_bound=len(marks) - 1)
    trace = "".join(" " if at is None or isnan(at) else marks[int(at)] for at in place.to_list())
    return trace if channel["digital"] else f"{trace}  {low:.7g} to {high:.7g}"
