"""The oscilloscope: what the lab captures of a run, with its picture at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from malsim.lab import scope as lab_scope
from malsim.lab.scope import Channel, Recording, Trigger
from malsim.plot.scope import scope as draw_scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.plot.style import Sheet
    from malsim.sim.run import Run

__all__ = ["Capture", "Channel", "Trigger", "capture", "scope", "shown"]


class Capture(lab_scope.Capture):
    """A capture whose picture is at hand; a notebook shows it."""

    @property
    def figure(self) -> Sheet:
        """The screen as a matplotlib figure."""
        return draw_scope(
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


def scope(
    run: Run,
    channels: Sequence[str | Channel],
    *,
    trigger: Trigger | Mapping[str, Any] | None = None,
    rep: int | None = None,
    **options: Any,
) -> Capture:
    """Capture signals or addresses of a run; options as of `malsim.lab.scope.scope`, a trigger also as its words."""
    wanted = Trigger(**trigger) if isinstance(trigger, Mapping) else trigger
    return capture(Recording.of(run, rep), channels, trigger=wanted, **{"title": run.scenario.why, **options})


def capture(recording: Recording, channels: Sequence[str | Channel], **options: Any) -> Capture:
    """Capture from a recording; options as of `malsim.lab.scope.scope`."""
    return shown(lab_scope.scope(recording, channels, **options))


def shown(made: lab_scope.Capture) -> Capture:
    """A capture with its picture at hand."""
    return Capture(**{part.name: getattr(made, part.name) for part in fields(made)})
