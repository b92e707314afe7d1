"""Faulty backends that break clauses of metrics, a module for each folder of vectors."""
