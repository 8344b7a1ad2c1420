"""Words of LinuxCNC in the shell: typed lines, scripts with their programs, and saved commands."""
