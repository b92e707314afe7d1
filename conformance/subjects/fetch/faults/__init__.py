"""Faulty backends that break clauses of fetch, a module for each folder of vectors."""
