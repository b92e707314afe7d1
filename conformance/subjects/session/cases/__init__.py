"""Authored cases of session, a module for each folder of vectors."""
