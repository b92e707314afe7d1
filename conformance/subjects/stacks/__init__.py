"""Stacks (`spec/clauses/stacks.toml`)."""
