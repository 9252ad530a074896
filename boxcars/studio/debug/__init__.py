"""The step debugger: previews that show the tuples of arcs and the states of boxes."""
