"""LinuxCNC syntax in the shell: typed lines, `.hal` scripts, and the programs that they start."""
