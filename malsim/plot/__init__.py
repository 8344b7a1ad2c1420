"""Frames to figures; knows no simulator."""

from malsim.moved import moved

moved(
    {"malsim.plot.netlist": "malsim.plot.wiring.netlist"}
    | {f"malsim.plot.{name}": f"malsim.plot.runs.{name}" for name in ("reliability", "trajectories", "waterfall")}
)
