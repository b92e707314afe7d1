"""Authored cases of concurrency, a module for each folder of vectors."""
