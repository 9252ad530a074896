"""Runs that the studio starts, watches and stops."""
