"""Populations of writers, their schedule, their claims and the delivery of claims to the gate."""
