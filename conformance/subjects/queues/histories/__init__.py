"""Histories: what overlapping calls on one queue were seen to do, and whether that can be."""
