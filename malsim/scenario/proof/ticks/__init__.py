"""A net cut out of its surroundings, tick by tick in terms, and what properties say of it."""
