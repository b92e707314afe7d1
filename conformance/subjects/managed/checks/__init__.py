"""Named checks of managed."""
