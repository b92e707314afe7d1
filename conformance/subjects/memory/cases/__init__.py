"""Authored cases of memory, a module for each folder of vectors."""
