"""What makes a network run."""
