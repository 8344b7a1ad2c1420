"""What is to be simulated: frozen settings, no behaviour."""
