"""Queues and queue runners (`spec/clauses/queues.toml`)."""
