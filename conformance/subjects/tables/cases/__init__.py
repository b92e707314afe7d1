"""Authored cases of tables, a module for each folder of vectors."""
