"""Faulty backends that break clauses of programs, a module for each folder of vectors."""
