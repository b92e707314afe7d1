"""The suite as pytest modules: `pytest --pyargs sessrun.conformance`."""
