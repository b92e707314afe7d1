"""Authored cases of graph, a module for each folder of vectors."""
