"""The life of a session (`spec/clauses/session.toml`)."""
