"""Faulty backends that break clauses of feed, a module for each folder of vectors."""
