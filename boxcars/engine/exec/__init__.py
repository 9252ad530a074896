"""Execution on Spark: session, job, worker processes and their errors."""
