"""Sensitivity of a metric to settings: one-at-a-time changes, Sobol indices over a space, and confounded pairs."""

from malsim.lab.sensitivity.sensitivity import Sensitivity, sensitivity

__all__ = ["Sensitivity", "sensitivity"]
