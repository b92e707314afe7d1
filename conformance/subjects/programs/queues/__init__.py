"""Programs of the area queues; each module is a topic."""
