"""Faulty backends that break clauses of losses, a module for each folder of vectors."""
