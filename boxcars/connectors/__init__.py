"""Where tuples come from and go to."""
