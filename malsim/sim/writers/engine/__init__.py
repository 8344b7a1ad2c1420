"""Interface of behaviours: the context of their claims, their drafts, and claims from files."""
