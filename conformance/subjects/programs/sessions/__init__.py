"""Programs of the area sessions; each module is a topic."""
