"""Sources and sinks of tuples: files, external systems, and their formats."""
