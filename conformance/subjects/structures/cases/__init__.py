"""Authored cases of structures, a module for each folder of vectors."""
