"""Engine that runs item-based laws, which score stored items instead of a graph of claims."""
