"""Authored cases of operations, a module for each folder of vectors."""
