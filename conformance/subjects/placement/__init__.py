"""Placement and device scopes (`spec/clauses/placement.toml`)."""
