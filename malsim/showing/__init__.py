"""Show results to people: plots, HTML pages, exercises of notebooks and the manual."""
