"""Lookup tables (`spec/clauses/tables.toml`)."""
