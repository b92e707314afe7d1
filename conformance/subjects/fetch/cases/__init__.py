"""Authored cases of fetch, a module for each folder of vectors."""
