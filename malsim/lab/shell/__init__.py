"""Interactive shell for a live claim graph and its netlist, modelled on LinuxCNC's halcmd."""

from malsim.lab.shell.console import Console
from malsim.lab.shell.session import Session

__all__ = ["Console", "Session"]
