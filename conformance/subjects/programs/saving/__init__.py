"""Programs of the area saving; each module is a topic."""
