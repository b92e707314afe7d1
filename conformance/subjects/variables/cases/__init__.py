"""Authored cases of variables, a module for each folder of vectors."""
