"""Random numbers and seeds (`spec/clauses/random.toml`)."""
