"""Programs of the area tables; each module is a topic."""
