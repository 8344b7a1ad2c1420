"""The netlist language: what a graph and its wiring look like on a page."""
