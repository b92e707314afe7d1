"""Named checks of run."""
