"""One line of text to one statement."""
