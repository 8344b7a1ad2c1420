"""Frames to figures; knows no simulator."""
