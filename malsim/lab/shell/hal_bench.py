"""A HAL bench for Python: a `.hal` file, a netlist or typed lines, run, stepped and shown."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.lab.shell import listing
from malsim.lab.shell.console import Console
from malsim.lab.shell.files import of_run, open_session
from malsim.lab.shell.listing import figure_of, samples_of
from malsim.netlist.wiring.diagram import diagram
from malsim.showing.plots.wiring.netlist import netlist, netlists

if TYPE_CHECKING:
    import polars as pl

    from malsim.lab.shell.session import Session
    from malsim.showing.plots.style import Sheet
    from malsim.sim.run import Run


class Hal:
    """A machine or a memory with its wiring, as the shell holds it. Make one with `ms.hal`."""

    def __init__(self, console: Console, title: str = "") -> None:
        self._console, self.title = console, title

    @property
    def session(self) -> Session:
        return self._console.session

    def type(self, lines: str) -> str:
        """Run lines of the shell, such as `setp gate.in0 1`, and return what they print.

        Raises
        ------
        UsageError
            With the whole message of the first line that fails; the lines before it have run.
        """
        out = io.StringIO()
        before, self._console.stdout = self._console.stdout, out
        try:
            failed = self._console.script(lines, "line")
        finally:
            self._console.stdout = before
        if failed:
            raise UsageError(out.getvalue().rstrip("\n"))
        return out.getvalue().rstrip("\n")

    def step(self, ticks: int = 1) -> Hal:
        """Run the threads for a number of ticks, and return this bench."""
        self.type(f"step {ticks}")
        return self

    def show(self, kind: str = "all") -> None:
        """Print comp, pin, param, sig, funct, thread, cell, or all of them."""
        print(self.type(f"show {kind}"))  # noqa: T201 - a bench is looked at

    def value(self, name: str) -> str:
        """Return a pin, a parameter, a signal or an address of the graph, as halcmd prints it."""
        return listing.read(self.session, self._console.hal.address(name))

    def signals(self) -> pl.DataFrame:
        """Return the signals at each tick so far: t (days), rep, row, signal, value."""
        return self.session.frames()[1]

    def plot(self, *names: str) -> Sheet:
        """Draw signals at each tick so far, by default all: values as steps, bits as lanes."""
        samples, bits = samples_of(self.session, names)
        unit = "s" if self._console.hal.period else "days"
        return figure_of(samples, bits, self.title or "Signals of the session", unit)

    def draw(self, *, beside: Hal | None = None, hal: bool = False) -> Sheet:
        """Draw the wiring, above that of another bench if one is given; with `hal`, LinuxCNC's names are added."""
        own = diagram(self.session.net, hal=hal)
        if beside is None:
            return netlist(own.boxes, own.wires, title=self.title)
        other = diagram(beside.session.net, hal=hal)
        return netlists([(own.boxes, own.wires, self.title), (other.boxes, other.wires, beside.title)])


def hal(source: str | Path | Run | None = None, *, title: str = "") -> Hal:
    r"""Open a HAL bench.

    Parameters
    ----------
    source
        A `.hal` file, which is run as halrun does; a netlist (`.malnet`) or a store; a run, at its end; or lines to type.
        Without it the bench is empty.
    title
        Title of its figures; the file's name if omitted.

    Raises
    ------
    NetlistError, UsageError
        What cannot be read or wired.

    >>> bench = hal("loadrt not names=n\nnet x n.out => n.in\naddf n tick").step(3)
    >>> bench.value("n.out"), bench.type("gets x")
    ('TRUE', 'TRUE')
    """
    if source is None or (isinstance(source, str) and ("\n" in source or " " in source.strip())):
        bench = Hal(Console(open_session(None), stdout=io.StringIO()), title)
        if source:
            bench.type(str(source))
        return bench
    if not isinstance(source, (str, Path)):
        return Hal(Console(of_run(source), stdout=io.StringIO()), title or source.scenario.name)
    path = Path(source)
    if path.suffix != ".hal":
        return Hal(Console(open_session(str(path)), stdout=io.StringIO()), title or path.name)
    console = Console(open_session(None), stdout=(out := io.StringIO()))
    if console.script(path.read_bytes(), str(path)):
        raise UsageError(out.getvalue().rstrip("\n"))
    return Hal(console, title or path.name)
