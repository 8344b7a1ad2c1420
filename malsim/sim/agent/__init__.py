"""Turns of the reader: the push, the reader's actions, hooks, the netlist, and reviews of disputes."""
