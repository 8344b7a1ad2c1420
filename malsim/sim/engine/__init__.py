"""Populations of writers, the schedule of their claims, and the delivery of claims to the gate."""
