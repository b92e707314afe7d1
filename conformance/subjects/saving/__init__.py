"""Saving and restoring (`spec/clauses/saving.toml`)."""
