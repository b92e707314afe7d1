"""Faulty backends that break clauses of tracing, a module for each folder of vectors."""
