"""The command line: one module a command, each with `SUMMARY`, `configure` and `run`."""
