"""Faulty backends that break clauses of optimizers, a module for each folder of vectors."""
