"""What a run keeps: frames, events, signals, figures, the manifest."""
