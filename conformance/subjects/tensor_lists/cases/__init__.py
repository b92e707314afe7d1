"""Authored cases of tensor lists, a module for each folder of vectors."""
