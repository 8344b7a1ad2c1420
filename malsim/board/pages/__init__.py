"""What a board is shown as: pages that open offline, pictures, a badge and a job summary."""
