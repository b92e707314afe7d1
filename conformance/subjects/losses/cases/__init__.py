"""Authored cases of losses, a module for each folder of vectors."""
