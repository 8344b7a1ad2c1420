"""Standing programs: operations of the reference on selected cells, run at each tick for all replications at once."""

from malsim.netlist.programs.program import Program, ProgramCell, checked, fault_of, program_cells, programs
from malsim.netlist.programs.run import Pass, Ran, members, run

__all__ = ["Pass", "Program", "ProgramCell", "Ran", "checked", "fault_of", "members", "program_cells", "programs", "run"]
