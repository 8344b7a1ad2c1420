"""What a scenario that was run comes to: each check and goal judged, also on fresh seeds and as a suite."""
