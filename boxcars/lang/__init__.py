"""The languages in which a network can be written: YAML, JSON, XML and Python."""
