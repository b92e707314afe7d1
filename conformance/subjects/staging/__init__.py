"""Staging areas and staging maps (`spec/clauses/staging.toml`)."""
