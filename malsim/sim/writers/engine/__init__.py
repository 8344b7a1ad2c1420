"""Interface of writers' behaviours: the context in which they write, their drafts, and claims from files."""
