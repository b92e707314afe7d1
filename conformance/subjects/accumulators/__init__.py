"""Accumulators of gradients (`spec/clauses/accumulators.toml`)."""
