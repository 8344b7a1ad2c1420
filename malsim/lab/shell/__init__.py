"""Shell over a live graph and its wiring, modelled on LinuxCNC's halcmd: session, listings and console."""

from malsim.lab.shell.console import Console
from malsim.lab.shell.session import Session

__all__ = ["Console", "Session"]
