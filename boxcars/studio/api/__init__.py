"""The API of the studio: its routes and the messages that they take and give."""
