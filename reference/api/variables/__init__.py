"""Variables: both kinds, their scopes and store, initializers, parts, updates."""
