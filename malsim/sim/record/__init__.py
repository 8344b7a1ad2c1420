"""Records of a run: data frames, events, signals, metrics and the manifest."""
