"""Faulty backends that break clauses of structures, a module for each folder of vectors."""
