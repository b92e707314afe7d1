"""Summaries of runs, and the event files that they are written to."""
