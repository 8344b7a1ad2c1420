"""People and checks beside the reader: which disputes a person looks at, and what is let out."""
