"""Authored cases of sparse, a module for each folder of vectors."""
