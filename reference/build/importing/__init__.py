"""GraphDefs read into a graph."""
