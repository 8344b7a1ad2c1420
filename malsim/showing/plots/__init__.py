"""Figures drawn from data frames, without use of the simulator."""
