"""Authored cases of callables, a module for each folder of vectors."""
