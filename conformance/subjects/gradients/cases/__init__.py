"""Authored cases of gradients, a module for each folder of vectors."""
