"""Records, event files and what readers hold."""
