"""Resolve: fetches and feeds become a signature and arrays; unpack: values become the structure.

It imports no other stage.
"""
