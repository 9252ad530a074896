"""Windows: assigning tuples, closing windows, and reporting before they close."""
