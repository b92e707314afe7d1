"""Authored cases of files, a module for each folder of vectors."""
