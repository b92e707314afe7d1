"""Faulty backends that break clauses of parsing, a module for each folder of vectors."""
