"""Graphs: building, definitions, import, cutting (`spec/clauses/graph.toml`)."""
