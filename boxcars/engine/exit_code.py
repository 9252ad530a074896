"""Exit codes of processes with a run; this module imports neither Spark nor Polars."""

INTERRUPTED = 130
"""The exit code of a process whose run Ctrl-C interrupted, as shells have it."""
