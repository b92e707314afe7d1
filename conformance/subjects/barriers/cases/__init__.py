"""Authored cases of barriers, a module for each folder of vectors."""
