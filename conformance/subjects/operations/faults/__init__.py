"""Faulty backends that break clauses of operations, a module for each folder of vectors."""
