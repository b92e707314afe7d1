"""Authored cases of feed, a module for each folder of vectors."""
