"""LinuxCNC syntax in the shell: typed lines, and scripts with their programs."""
