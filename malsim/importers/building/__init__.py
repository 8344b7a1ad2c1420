"""Steps that turn imported records into a memory: withhold secrets, assemble, save, or convert to a claim stream."""
