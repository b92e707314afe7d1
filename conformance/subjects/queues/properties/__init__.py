"""Properties of queues: generators of cases."""
