"""Aggregate functions: built-in, partial, and user-defined."""
