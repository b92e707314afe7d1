"""Lookup tables, their resources and what fills them."""
