"""Faulty backends that break clauses of gpu, a module for each folder of vectors."""
