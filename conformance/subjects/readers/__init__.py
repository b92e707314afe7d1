"""Readers and batching (`spec/clauses/readers.toml`)."""
