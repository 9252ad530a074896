"""One epoch: what it reads, what each piece does, and the messages between them."""
