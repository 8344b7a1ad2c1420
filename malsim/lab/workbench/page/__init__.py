"""Live page and its server, in Panel and Bokeh."""
