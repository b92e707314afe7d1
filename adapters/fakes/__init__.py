"""Fake backends, each named for its vice; `conforming` has none. Material for tests."""
