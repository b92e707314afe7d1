"""The conformance suite: plan, runner, verdicts, generators, faulty backends, benchmarks."""
