"""Programs of the area readers; each module is a topic."""
