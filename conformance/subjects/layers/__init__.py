"""Layers (`spec/clauses/layers.toml`)."""
