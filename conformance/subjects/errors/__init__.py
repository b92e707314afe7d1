"""Errors: classes, codes, objects (`spec/clauses/errors.toml`)."""
