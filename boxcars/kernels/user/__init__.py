"""User-defined operators: classes over trains, or over tuples with a state for each key."""
