"""What runs a law of items: its declarations, the columns of its items, the rounds of claims, and the plant around them."""
