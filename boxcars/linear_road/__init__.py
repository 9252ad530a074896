"""Linear Road, a benchmark for stream processing: rules, traffic, queries and validator.

:mod:`boxcars.linear_road.facts` has the rules, :mod:`boxcars.linear_road.traffic` generates the
traffic, :mod:`boxcars.linear_road.history` the history of ten weeks, and
:mod:`boxcars.linear_road.validator` checks that answers are correct and in time.
"""
