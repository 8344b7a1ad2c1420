"""The signals of a session's ticks so far, as a picture or a file of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import UsageError, nearest
from malsim.base.files.outputs import save_table, save_text
from malsim.base.files.vcd import vcd_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.lab.shell.session import Session
    from malsim.showing.plots.style import Sheet

KINDS = (".png", ".svg", ".vcd", ".csv")
HINT = "malsim workbench FILE shows them as a live page"


def save_traces(session: Session, words: list[str]) -> str:
    """Write the signals named among the words, by default all, to the file after `out=`; return its path."""
    names = [word for word in words if not word.startswith("out=")]
    out = next((word.removeprefix("out=") for word in words if word.startswith("out=")), "")
    if not out.endswith(KINDS):
        raise UsageError("scope writes a file: scope out=FILE", given=out or None, allowed=" ".join(KINDS), hint=HINT)
    samples, bits = samples_of(session, names)
    if out.endswith(".csv"):
        save_table(out, samples)
    elif out.endswith(".vcd"):
        save_text(out, vcd_text(samples, bits, tick=session.tick))
    else:
        figure_of(samples, bits).savefig(out)
    return out


def samples_of(session: Session, names: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return the samples (t, channel, value) of signals, by default all, and the names of those that are bits.

    Raises
    ------
    UsageError
        No tick has been made, or a name is not a signal's.
    """
    if not session.past:
        raise UsageError("nothing has been recorded yet", hint="step 20 makes twenty ticks")
    signals = session.net.signals
    for name in names:
        if name not in signals:
            raise UsageError("no such signal", given=name, hint=nearest(name, signals, "show sig lists the signals"))
    samples = session.frames()[1].select("t", pl.col("signal").alias("channel"), "value")
    bits = [name for name, signal in signals.items() if signal.type == "bit"]
    return samples.filter(pl.col("channel").is_in(list(names))) if names else samples, bits


def figure_of(
    samples: pl.DataFrame, bits: Sequence[str], title: str = "Signals of the session", unit: str = "days"
) -> Sheet:
    """Draw samples (t, channel, value): values as steps, bits as lanes."""
    from malsim.showing.plots.runs.signal_lanes import signal_lanes

    channel = samples["channel"].unique(maintain_order=True)
    channels = pl.DataFrame({"channel": channel, "address": channel, "digital": channel.is_in(list(bits))})
    return signal_lanes(samples, channels, pl.DataFrame(schema={"t": pl.Float64, "kind": pl.String}), title=title, unit=unit)
