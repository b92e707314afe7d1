"""Record files, event files, and the readers of a session."""
