"""SimPy processes of users, and the shipped actors that act between two ticks."""
