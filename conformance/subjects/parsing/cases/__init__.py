"""Authored cases of parsing, a module for each folder of vectors."""
