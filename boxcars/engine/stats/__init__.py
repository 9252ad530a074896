"""Statistics of a run: counters, latency, load of buckets, losses."""
