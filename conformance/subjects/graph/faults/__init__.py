"""Faulty backends that break clauses of graph, a module for each folder of vectors."""
