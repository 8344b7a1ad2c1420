"""What every folder may use: errors, checks of numbers, limits, whole-or-absent files, text that is safe to print."""
