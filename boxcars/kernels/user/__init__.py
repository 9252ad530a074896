"""Operators of the user's own: classes over trains, or over tuples with a state for each key."""
