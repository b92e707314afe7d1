"""Managed sessions (`spec/clauses/managed.toml`)."""
