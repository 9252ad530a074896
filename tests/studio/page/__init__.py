"""The page of the studio in a real browser."""
