"""What a network is: plain data, no execution."""
