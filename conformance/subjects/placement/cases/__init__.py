"""Authored cases of placement, a module for each folder of vectors."""
