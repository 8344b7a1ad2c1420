"""Cells and edges of a netlist: from text to a memory, and from a memory to text."""
