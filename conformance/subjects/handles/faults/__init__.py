"""Faulty backends that break clauses of handles, a module for each folder of vectors."""
