"""Tests that judge memories by axioms, by duties, and by the price of making them believe a lie."""
