"""Authored cases of waiting, a module for each folder of vectors."""
