"""Authored cases of queues, a module for each folder of vectors."""
