"""Parser of one line of text into one statement."""
