"""Programs of the area tensor arrays; each module is a topic."""
