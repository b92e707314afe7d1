"""Fetches: names, structures, arrays, refusals (`spec/clauses/fetch.toml`)."""
