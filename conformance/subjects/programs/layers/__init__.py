"""Programs of the area layers; each module is a topic."""
