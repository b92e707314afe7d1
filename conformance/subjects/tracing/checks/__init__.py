"""Named checks of tracing."""
