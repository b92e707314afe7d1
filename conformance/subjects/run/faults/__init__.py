"""Faulty backends that break clauses of run, a module for each folder of vectors."""
