"""Faulty backends that break clauses of accumulators, a module for each folder of vectors."""
