"""Graph of claims: immutable columns of cells, edges and writers, with their indexes."""
