"""Summaries and event files (`spec/clauses/summaries.toml`)."""
