"""The languages a network can be written in."""
