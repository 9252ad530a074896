"""The studio: draw a network in a browser, check it, preview it, run it on Spark and watch it."""
