"""Stored tables: databases, SQL statements on them, and epoch transactions."""
