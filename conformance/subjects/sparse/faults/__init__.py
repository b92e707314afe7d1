"""Faulty backends that break clauses of sparse, a module for each folder of vectors."""
