"""The studio's HTTP API: its routes and the server."""
