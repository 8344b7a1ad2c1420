"""Reading and validation of scenario files."""
