"""Net cut out of its surroundings, tick by tick in terms, and the meaning of properties on it."""
