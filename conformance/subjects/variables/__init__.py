"""Variables (`spec/clauses/variables.toml`)."""
