"""Faulty backends that break clauses of tensor lists, a module for each folder of vectors."""
