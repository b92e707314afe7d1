"""Authored cases of partial run, a module for each folder of vectors."""
