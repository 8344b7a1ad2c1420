"""Assurance as `import malsim as ms` gives it: a tripwire's scorecard with its figure and page, and falsification."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.errors import UsageError
from malsim.lab import falsify as lab_falsify
from malsim.lab.falsify.schedule import RELATIONS
from malsim.lab.space import Space
from malsim.lab.tripwire import design as lab_design
from malsim.lab.tripwire import scorecard as lab_scorecard
from malsim.lab.tripwire.noise import Noise
from malsim.lab.tripwire.observed import observe
from malsim.lab.tripwire.said import said
from malsim.netlist import Document, parse
from malsim.netlist import read as read_netlist
from malsim.plot import design as draw_design
from malsim.plot import tripwire as draw
from malsim.report.tripwire import page
from malsim.scenario.files import read
from malsim.sim.script import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from malsim.plot.style import Sheet

__all__ = ["Scorecard", "compare_tripwires", "design_tripwire", "falsify", "validate"]


LAST_SEED = 2**31 - 1


class Scorecard(lab_scorecard.Scorecard):
    """What is known of a tripwire; a notebook shows its figure, `print` its text."""

    @property
    def figure(self) -> Sheet:
        """What it watched and when it rang, its truth table, operating points, mutants and faults."""
        card = self.card
        frames = {name: getattr(self, name) for name in ("timeline", "watched", "scores", "mutants", "faults")}
        rows, columns = (card.rows, (card.before, card.inputs, card.outputs)) if card else (_no_rows(), ((), (), ()))
        title = f"{self.name} in {self.scenario.name}. {self.receipt.verdict}"
        return draw.scorecard(frames | {"card": rows}, columns, title=title)

    @property
    def html(self) -> str:
        """One self-contained page."""
        return page(self, self.figure)

    def __str__(self) -> str:
        return said(self)

    def _repr_png_(self) -> bytes:
        return self.figure._repr_png_()


def _no_rows() -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame()


def validate(netlist: Document | str | Path | None, scenario: Scenario | str | Path, **options: Any) -> Scorecard:
    """Everything about a tripwire in a scenario; see `malsim.lab.tripwire.scorecard.validate`.

    Parameters
    ----------
    netlist
        A netlist, its text, or the path of its file; None takes the scenario's own.
    scenario
        One, or the path of its file.
    """
    made = lab_scorecard.validate(_document(netlist), _scenario(scenario), **options)
    return Scorecard(**{part.name: getattr(made, part.name) for part in fields(made)})


def compare_tripwires(netlists: Sequence[str | Path], scenario: Scenario | str | Path, **options: Any) -> pl.DataFrame:
    """Tripwires side by side on common random numbers; see `malsim.lab.tripwire.scorecard.compare`."""
    documents = {Path(one).name: read_netlist(one) for one in netlists}
    return lab_scorecard.compare(documents, _scenario(scenario), **options)


class Design(lab_design.Design):
    """A proposed tripwire; a notebook shows its figure, `print` its text."""

    @property
    def figure(self) -> Sheet:
        """How fast each structure tried is at the target ARL0, and what was taken."""
        title = f"ARL0 {self.arl0:g} ticks, shift of {self.shift:g}"
        return draw_design.design(self.candidates, gain=self.gain, hold=self.hold, delay=self.delay, title=title)

    def _repr_png_(self) -> bytes:
        return self.figure._repr_png_()


def design_tripwire(arl0: float, delay: float, *, noise: Noise | None = None, shift: float = 1.0, **options: Any) -> Design:
    """Propose a tripwire from its targets in ticks; by default for a shift of one sigma of unit normal noise.

    See `malsim.lab.tripwire.design.design`.
    """
    made = lab_design.design(arl0, delay, noise=noise or Noise(), shift=shift, **options)
    return Design(**{part.name: getattr(made, part.name) for part in fields(made)})


def noise_of(scenario: Scenario | str | Path, signal: str, *, alarm: str | None = None) -> tuple[Noise, float]:
    """What a signal of a scenario's netlist does in quiet ticks, and how far its mean moves in the episodes."""
    import numpy as np

    seen = observe(_scenario(scenario), alarm)
    values = seen.signal(signal)
    noise = Noise.of(values, ~seen.truth)
    moved = values[seen.truth & ~np.isnan(values)]
    if not len(moved):
        raise UsageError("the signal has no value in an episode", given=signal, hint="add an [[episode]], or give --shift")
    return noise, float(moved.mean()) - noise.mean


def falsify(
    scenario: Scenario | str | Path,
    check: str,
    *,
    parameters: Mapping[str, Sequence[Any]] | None = None,
    writes: int = 4,
    writers: Sequence[str] = (),
    targets: Sequence[str] = (),
    relations: Sequence[str] = RELATIONS,
    **options: Any,
) -> lab_falsify.Falsified:
    """Search for the writes, noise and settings that break a check; see `malsim.lab.falsify.falsify`.

    Parameters
    ----------
    scenario
        One, or the path of its file.
    check
        The name of one of its checks, or a property.
    parameters
        Settings searched beside the writes, from dotted names to (low, high) or choices: `{"rules.damping": (0, 0.9)}`,
        `{"faults.honest.noise.drop": (0, 1)}`. Where populations write, the seed of their draws is searched as well.
    writes, writers, targets, relations
        At most how many claims are put in, by whom, about which cells, of which relations; by default four, by the
        scenario's own writers and two strangers, about the cells it names.
    """
    script = _scenario(scenario)
    searched = ({"seed": (0, LAST_SEED)} if script.writers else {}) | dict(parameters or {})
    space = Space.of(searched, script) if searched else None
    plan = lab_falsify.Schedule.of(
        script, writes=writes, writers=tuple(writers), targets=tuple(targets), relations=tuple(relations), space=space
    )
    return lab_falsify.falsify(script, check, schedule=plan, **options)


def _document(netlist: Document | str | Path | None) -> Document | None:
    if netlist is None or isinstance(netlist, Document):
        return netlist
    if isinstance(netlist, str) and ("\n" in netlist or " " in netlist.strip()):
        return parse(netlist)
    return read_netlist(netlist)


def _scenario(scenario: Scenario | str | Path) -> Scenario:
    return scenario if isinstance(scenario, Scenario) else read(scenario)
