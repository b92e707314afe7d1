"""The lookup tables of a session, and the files that fill them."""
