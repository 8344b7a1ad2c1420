"""The parts of the page under its figures: each shows a result and answers what is asked of it."""
