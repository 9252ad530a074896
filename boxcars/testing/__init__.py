"""Test tools for users."""
