"""The user's code in a network: what is used, its identity, and its bundle for the workers."""
