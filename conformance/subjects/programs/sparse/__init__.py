"""Programs of the area sparse; each module is a topic."""
