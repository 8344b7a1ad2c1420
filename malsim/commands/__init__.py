"""Commands of malsim. Every module in this folder is a command, every folder a group of commands."""
