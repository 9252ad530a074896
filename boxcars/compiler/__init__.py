"""Back ends: write a plan as files for another system."""
