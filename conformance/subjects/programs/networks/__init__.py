"""Programs of the area networks; each module is a topic."""
