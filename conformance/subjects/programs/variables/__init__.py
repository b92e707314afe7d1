"""Programs of the area variables; each module is a topic."""
