"""Authored cases of tracing, a module for each folder of vectors."""
