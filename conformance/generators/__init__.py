"""Generators: graphs and feeds made from the declarations of the operations."""
