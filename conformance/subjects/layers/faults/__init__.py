"""Faulty backends that break clauses of layers, a module for each folder of vectors."""
