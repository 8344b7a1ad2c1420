"""The reader's turn: what is pushed, what it does, what hooks and reviewers make of it."""
