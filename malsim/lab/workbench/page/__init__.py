"""The live page in Panel and Bokeh: its components, its figures, and what each of its parts answers."""
