"""Faulty backends that break clauses of control flow, a module for each folder of vectors."""
