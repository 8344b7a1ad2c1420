"""The graph: immutable columns of cells, edges and writers, and their indexes."""
