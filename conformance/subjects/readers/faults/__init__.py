"""Faulty backends that break clauses of readers, a module for each folder of vectors."""
