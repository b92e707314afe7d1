"""`make_callable` (`spec/clauses/callables.toml`)."""
