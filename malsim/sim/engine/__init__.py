"""Who writes what and when: populations, their claims, and the way to the gate."""
