"""Faulty backends that break clauses of callables, a module for each folder of vectors."""
