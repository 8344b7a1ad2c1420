"""What the page is made of: components with a script each, and the figures."""
