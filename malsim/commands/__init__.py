"""Commands of malsim: each module in this folder is a command, each subfolder a group of commands."""
