"""Tables generated from the spec's data files, so that nothing parses TOML at import."""
