"""Faulty backends that break clauses of session, a module for each folder of vectors."""
