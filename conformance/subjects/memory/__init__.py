"""The suite's cases of memory: arrays that were fed or fetched, and written to afterwards."""
