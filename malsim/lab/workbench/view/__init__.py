"""Components and figures of the workbench page."""
