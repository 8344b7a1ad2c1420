"""Turns of the reader: the push, its actions, hooks, the netlist, and the review of disputes."""
