"""Authored cases of summaries, a module for each folder of vectors."""
