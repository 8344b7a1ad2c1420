"""The graph: frozen columns of cells, edges and writers, and where things are found in them."""
