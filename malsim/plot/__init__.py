"""Frames to figures; knows no simulator."""

from malsim.moved import moved

moved(
    {"malsim.plot.netlist": "malsim.plot.wiring.netlist"}
    | {f"malsim.plot.{name}": f"malsim.plot.runs.{name}" for name in ("reliability", "trajectories", "waterfall")}
    | {f"malsim.plot.studies.{name}": "malsim.plot.studies.evidence_curves" for name in ("law_scores", "said_and_right")}
)
