"""malsim: a test bench for agent memories that many writers share."""
