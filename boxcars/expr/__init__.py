"""SQL expressions: parsed, typed, and translated to one Polars expression each."""

from boxcars.expr import library as library
from boxcars.expr.expression import Expr, call, conjuncts, constant_value
from boxcars.expr.functions import catalogue, function, functions

__all__ = ["Expr", "call", "catalogue", "conjuncts", "constant_value", "function", "functions"]
