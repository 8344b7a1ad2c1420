"""Parser that turns one line of netlist text into one statement."""
