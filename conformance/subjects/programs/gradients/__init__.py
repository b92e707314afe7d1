"""Programs of the area gradients; each module is a topic."""
