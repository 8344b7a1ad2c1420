"""HAL test bench for Python, to run, step and inspect a `.hal` file, a netlist or typed lines."""

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

    from malsim.lab.shell.files import SessionFile
    from malsim.lab.shell.session import Session
    from malsim.showing.plots.style import Sheet
    from malsim.sim.run import Run


class Hal:
    """Machine or memory with its wiring, controlled by shell commands. Create an instance with `ms.hal`."""

    def __init__(self, source: SessionFile, title: str = "") -> None:
        self._console, self.title = Console(source, stdout=io.StringIO()), title

    @property
    def session(self) -> Session:
        """Current session of the shell."""
        return self._console.session

    def type(self, lines: str) -> str:
        """Run shell commands such as `setp gate.in0 1` and return their output.

        Raises
        ------
        UsageError
            If a line fails, with its message. The lines before that line remain in effect.
        """
        return self.run_script(lines, "line")

    def run_script(self, source: str | bytes, name: str) -> str:
        """Run a script and return its output. Raises `UsageError` if a line fails, like `type`."""
        self._console.stdout = out = io.StringIO()
        failed = self._console.script(source, name)
        printed = out.getvalue().rstrip("\n")
        if failed:
            raise UsageError(printed)
        return printed

    def step(self, ticks: int = 1) -> Hal:
        """Run the threads for `ticks` ticks and return this bench."""
        self.type(f"step {ticks}")
        return self

    def show(self, kind: str = "all") -> None:
        """Print the table of one kind of item (comp, pin, param, sig, funct, thread, cell), or all tables."""
        print(self.type(f"show {kind}"))  # noqa: T201  # meant for interactive use

    def value(self, name: str) -> str:
        """Return the value of a pin, parameter, signal or address, as halcmd prints it."""
        return listing.read(self.session, self._console.hal.address(name))

    def signals(self) -> pl.DataFrame:
        """Return the signals at every tick so far, with columns t (days), rep, row, signal, value."""
        return self.session.frames()[1]

    def plot(self, *names: str) -> Sheet:
        """Plot signals (by default all) at every tick so far, numbers as steps and bits as lanes."""
        samples, bits = samples_of(self.session, names)
        unit = "s" if self._console.hal.period else "days"
        return figure_of(samples, bits, self.title or "Signals of the session", unit)

    def draw(self, *, beside: Hal | None = None, hal: bool = False) -> Sheet:
        """Draw the wiring, optionally above the wiring of another bench. With `hal`, add LinuxCNC's names."""
        upper = diagram(self.session.net, hal=hal)
        if beside is None:
            return netlist(upper.boxes, upper.wires, title=self.title)
        lower = diagram(beside.session.net, hal=hal)
        return netlists([(upper.boxes, upper.wires, self.title), (lower.boxes, lower.wires, beside.title)])


def hal(source: str | Path | Run | None = None, *, title: str = "") -> Hal:
    r"""Open a HAL test bench on a `.hal` file, a netlist, a store, a finished run or typed lines.

    Parameters
    ----------
    source
        A `.hal` file, which is run as halrun would; a netlist (`.malnet`) or a store; a finished run; or lines to type. By
        default the bench is empty.
    title
        Title of the figures, by default the name of the file.

    Raises
    ------
    NetlistError, UsageError
        If the source cannot be read or wired.

    >>> bench = hal("loadrt not names=n\nnet x n.out => n.in\naddf n tick").step(3)
    >>> bench.value("n.out"), bench.type("gets x")
    ('TRUE', 'TRUE')
    """
    if source is None or (isinstance(source, str) and ("\n" in source or " " in source.strip())):
        bench = Hal(open_session(None), title)
        if source:
            bench.type(str(source))
        return bench
    if not isinstance(source, (str, Path)):
        return Hal(of_run(source), title or source.scenario.name)
    path = Path(source)
    is_script = path.suffix == ".hal"
    bench = Hal(open_session(None if is_script else str(path)), title or path.name)
    if is_script:
        bench.run_script(path.read_bytes(), str(path))
    return bench
