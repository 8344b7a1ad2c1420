"""A shell over a live graph and its wiring, after LinuxCNC's halcmd: the session, its listings, its console."""

from malsim.lab.shell.console import Console
from malsim.lab.shell.session import Session

__all__ = ["Console", "Session"]
