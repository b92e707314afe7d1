"""Partial runs (`spec/clauses/partial-run.toml`)."""
