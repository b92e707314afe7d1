"""Sessions: the stages resolve, prune, place, compile, execute of a run, a module each."""
