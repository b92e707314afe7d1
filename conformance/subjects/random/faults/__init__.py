"""Faulty backends that break clauses of random, a module for each folder of vectors."""
