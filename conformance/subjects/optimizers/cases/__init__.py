"""Authored cases of optimizers, a module for each folder of vectors."""
