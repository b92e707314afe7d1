"""Authored cases of control flow, a module for each folder of vectors."""
