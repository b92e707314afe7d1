"""Faulty backends that break clauses of waiting, a module for each folder of vectors."""
