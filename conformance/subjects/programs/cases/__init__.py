"""Authored cases of programs, a module for each folder of vectors."""
