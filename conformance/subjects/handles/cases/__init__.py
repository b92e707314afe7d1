"""Authored cases of handles, a module for each folder of vectors."""
