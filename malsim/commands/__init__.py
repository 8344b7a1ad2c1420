"""One file a command; being in this folder is being registered."""
