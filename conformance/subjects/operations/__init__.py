"""What operations compute (`spec/clauses/operations.toml`)."""
