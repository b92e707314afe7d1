"""Authored cases of readers, a module for each folder of vectors."""
