"""Parts of the workbench page: checks, stepping, netlist, saving, explanations, op bench, and store view."""
