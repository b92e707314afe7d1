"""Faulty backends that break clauses of composites, a module for each folder of vectors."""
