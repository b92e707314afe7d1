"""Programs of the area training; each module is a topic."""
