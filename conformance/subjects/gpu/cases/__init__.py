"""Authored cases of gpu, a module for each folder of vectors."""
