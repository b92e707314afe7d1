"""Metrics (`spec/clauses/metrics.toml`)."""
