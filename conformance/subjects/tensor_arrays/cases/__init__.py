"""Authored cases of tensor arrays, a module for each folder of vectors."""
