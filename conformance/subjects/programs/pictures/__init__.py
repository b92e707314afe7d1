"""Programs of the area pictures; each module is a topic."""
