"""The engine: runs networks, on Spark or in this process."""
