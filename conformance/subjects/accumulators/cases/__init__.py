"""Authored cases of accumulators, a module for each folder of vectors."""
