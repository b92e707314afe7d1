"""Faulty backends that break clauses of staging, a module for each folder of vectors."""
