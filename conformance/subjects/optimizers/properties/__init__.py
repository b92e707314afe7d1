"""Properties of optimizers: generators of cases."""
