"""SQL statements over the stored tables of a network: checked here, run by a store."""

from boxcars.sql.statement import INPUT, Column, Kind, Statement, tables_of

__all__ = ["INPUT", "Column", "Kind", "Statement", "tables_of"]
