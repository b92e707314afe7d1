"""Faulty backends that break clauses of tables, a module for each folder of vectors."""
