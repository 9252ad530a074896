"""Measurements of an epoch: counters, bucket loads, arc samples, reasons of dead letters."""
