"""Records of a run: frames, events, signals, figures and the manifest."""
