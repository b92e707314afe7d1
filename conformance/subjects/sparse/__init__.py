"""Sparse tensors as fetches and feeds (`spec/clauses/sparse.toml`)."""
