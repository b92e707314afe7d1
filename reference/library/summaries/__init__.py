"""Summaries: what a run records to be looked at, and the event files that hold it."""
