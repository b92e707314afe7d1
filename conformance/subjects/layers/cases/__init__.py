"""Authored cases of layers, a module for each folder of vectors."""
