"""Faulty backends that break clauses of managed, a module for each folder of vectors."""
