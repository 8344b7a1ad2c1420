"""Components and figures of the page."""
