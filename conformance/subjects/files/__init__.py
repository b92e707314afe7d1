"""Operations on files (`spec/clauses/files.toml`)."""
