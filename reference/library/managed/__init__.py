"""Sessions that manage themselves: initialize, recover, call hooks, and stop."""
