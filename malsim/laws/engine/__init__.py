"""Engine of the laws of items: declarations, columns of items, rounds of claims, and the plant around them."""
