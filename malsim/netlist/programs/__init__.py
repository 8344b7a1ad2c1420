"""Standing programs: the reference's operations over chosen members, run each tick for all replications at once."""

from malsim.netlist.programs.parse import Written, checked, fault_of, written
from malsim.netlist.programs.program import Program, programs
from malsim.netlist.programs.run import Pass, Ran, run

__all__ = ["Pass", "Program", "Ran", "Written", "checked", "fault_of", "programs", "run", "written"]
