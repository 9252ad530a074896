"""Systems outside that a run reads and writes: a file for each, and what they have in common."""
