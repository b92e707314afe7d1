"""Authored cases of metrics, a module for each folder of vectors."""
