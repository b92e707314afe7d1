"""Authored cases of composites, a module for each folder of vectors."""
