"""Losses (`spec/clauses/losses.toml`)."""
