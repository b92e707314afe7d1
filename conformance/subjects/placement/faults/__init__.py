"""Faulty backends that break clauses of placement, a module for each folder of vectors."""
