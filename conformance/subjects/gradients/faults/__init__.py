"""Faulty backends that break clauses of gradients, a module for each folder of vectors."""
