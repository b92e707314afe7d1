"""Properties of feed: generators of cases."""
