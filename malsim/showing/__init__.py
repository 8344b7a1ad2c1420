"""Show results to people: plots, HTML pages, notebook widgets and the manual."""
