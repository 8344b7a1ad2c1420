"""What runs users' memories in the loop: who calls them, with what words, and what a harness sees of their items."""
