"""Authored cases of run, a module for each folder of vectors."""
