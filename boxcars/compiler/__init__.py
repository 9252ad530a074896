"""Back ends: a plan as the files of another system."""
