"""Parsing of Examples, CSV and numbers (`spec/clauses/parsing.toml`)."""
