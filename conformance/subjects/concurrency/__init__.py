"""Runs that overlap (`spec/clauses/concurrency.toml`)."""
