"""Figures drawn from data frames, without using the simulator."""
