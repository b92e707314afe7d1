"""Programs of the area arrays; each module is a topic."""
