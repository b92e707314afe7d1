"""Programs of the area numbers; each module is a topic."""
