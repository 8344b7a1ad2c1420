"""The graph side of a netlist: cells and edges from its text onto a memory, and a memory back to its text."""
