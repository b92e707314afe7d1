"""Authored cases of stacks, a module for each folder of vectors."""
