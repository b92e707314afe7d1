"""Programs of the area graphs; each module is a topic."""
