"""Programs of the area text; each module is a topic."""
