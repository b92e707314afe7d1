"""Authored cases of saving, a module for each folder of vectors."""
