"""Live page of the workbench and its server, built with Panel and Bokeh."""
