"""Faulty backends that break clauses of memory, a module for each folder of vectors."""
