"""Adapters: how a backend is driven, in this process or in another."""
