"""Faulty backends that break clauses of files, a module for each folder of vectors."""
