"""Faulty backends that break clauses of barriers, a module for each folder of vectors."""
