"""Sensitivity of a metric to settings: single moves, Sobol indices over a space, and confounded pairs."""

from malsim.lab.sensitivity.sensitivity import Sensitivity, sensitivity

__all__ = ["Sensitivity", "sensitivity"]
