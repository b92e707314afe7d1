"""Faulty backends that break clauses of saving, a module for each folder of vectors."""
