"""Session handles (`spec/clauses/handles.toml`)."""
