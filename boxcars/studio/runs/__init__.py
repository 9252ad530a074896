"""Runs that the studio starts, monitors and stops."""
