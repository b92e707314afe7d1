"""Programs of the area managed; each module is a topic."""
