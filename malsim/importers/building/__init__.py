"""Steps from imported records to a memory: withhold, assemble, save, or stream as claims."""
