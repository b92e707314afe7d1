"""Properties of operations: generators of cases."""
