"""Aggregate functions: built in, incremental, and the user's own."""
