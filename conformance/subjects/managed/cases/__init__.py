"""Authored cases of managed, a module for each folder of vectors."""
