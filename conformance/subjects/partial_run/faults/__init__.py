"""Faulty backends that break clauses of partial run, a module for each folder of vectors."""
