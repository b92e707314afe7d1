"""The pages of the spec, the suite and the documentation as a site that needs no network."""
