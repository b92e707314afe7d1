"""Faulty backends that break clauses of errors, a module for each folder of vectors."""
