"""Properties of structures: generators of cases."""
