"""Barriers (`spec/clauses/barriers.toml`)."""
