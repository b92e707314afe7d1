"""Faulty backends that break clauses of summaries, a module for each folder of vectors."""
