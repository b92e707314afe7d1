"""Feeds: keys, conversion, shapes, values (`spec/clauses/feed.toml`)."""
