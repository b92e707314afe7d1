"""Programs of the area control flow; each module is a topic."""
