"""Authored cases of numbers, a module for each folder of vectors."""
