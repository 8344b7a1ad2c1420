"""Evaluation of addresses in frames, for checks, plots, reports and questions to a run."""

from malsim.netlist.evaluate.look_up_names import Frames, SignalRow, crosses, edges_by_handle, read
from malsim.netlist.evaluate.look_up_values import cells_read, evaluate, one_value

__all__ = ["Frames", "SignalRow", "cells_read", "crosses", "edges_by_handle", "evaluate", "one_value", "read"]
