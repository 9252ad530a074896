"""Statistics of a run: rates, latencies and bucket sizes."""
