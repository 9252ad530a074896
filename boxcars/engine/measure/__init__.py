"""Measures of an epoch: counters, load of buckets, samples of arcs, reasons of dead letters."""
