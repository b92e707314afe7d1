"""The suite's cases of fetch and feed structures: many structures of few leaves in one session."""
