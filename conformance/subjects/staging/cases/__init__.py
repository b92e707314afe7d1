"""Authored cases of staging, a module for each folder of vectors."""
