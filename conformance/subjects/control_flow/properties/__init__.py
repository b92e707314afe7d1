"""Properties of control flow: generators of cases."""
