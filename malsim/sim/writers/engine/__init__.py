"""What a behaviour works with: the context of its claims, what it drafts, and claims from files."""
