"""Faulty backends that break clauses of numbers, a module for each folder of vectors."""
