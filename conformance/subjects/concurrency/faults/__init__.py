"""Faulty backends that break clauses of concurrency, a module for each folder of vectors."""
