"""Parts of the workbench: checks, stepping, netlist, saving, explanations, op bench and store."""
