"""The studio's page in a real browser."""
