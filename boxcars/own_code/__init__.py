"""The user's own code on its way to Spark's workers: what is used, its identity, its bundle."""
