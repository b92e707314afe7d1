"""Authored cases of errors, a module for each folder of vectors."""
