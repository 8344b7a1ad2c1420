"""Live page and its server, built with Panel and Bokeh."""
