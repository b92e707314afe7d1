"""Faulty backends that break clauses of queues, a module for each folder of vectors."""
