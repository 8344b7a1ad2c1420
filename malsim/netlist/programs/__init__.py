"""Standing programs: MAL operations that run on selected cells at each tick, vectorised over replications."""

from malsim.netlist.programs.program import Program, ProgramCell, checked, fault_of, program_cells, programs
from malsim.netlist.programs.run import Pass, Ran, members, run

__all__ = ["Pass", "Program", "ProgramCell", "Ran", "checked", "fault_of", "members", "program_cells", "programs", "run"]
