"""The netlist language: words, addresses and statements, parsed and formatted without access to ops or a memory."""
