"""Linear Road, the benchmark of stream processing: its facts, its traffic and its judge.

:mod:`boxcars.linear_road.facts` has the rules, :mod:`boxcars.linear_road.traffic` makes the cars,
:mod:`boxcars.linear_road.history` what happened in the ten weeks before, and
:mod:`boxcars.linear_road.validator` says whether answers are right and came in time.
"""
