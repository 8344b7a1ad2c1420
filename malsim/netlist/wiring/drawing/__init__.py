"""A net laid out for drawings: boxes and wires, a part of them, a Mermaid chart."""
