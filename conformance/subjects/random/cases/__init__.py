"""Authored cases of random, a module for each folder of vectors."""
