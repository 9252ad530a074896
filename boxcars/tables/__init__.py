"""Stored tables: databases, SQL statements over them, and transactions of epochs."""
