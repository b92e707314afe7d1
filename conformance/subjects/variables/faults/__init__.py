"""Faulty backends that break clauses of variables, a module for each folder of vectors."""
