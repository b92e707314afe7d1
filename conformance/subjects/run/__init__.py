"""A run: what is executed, in which order, how it fails (`spec/clauses/run.toml`)."""
