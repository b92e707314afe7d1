"""Faulty backends that break clauses of stacks, a module for each folder of vectors."""
