"""Faulty backends that break clauses of tensor arrays, a module for each folder of vectors."""
