"""Faulty backends that break clauses of inference, a module for each folder of vectors."""
