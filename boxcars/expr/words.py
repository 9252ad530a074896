"""The tokens of the grammar: symbols, keywords, and operator precedence."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import ClassVar

from sqlglot import exp, tokens
from sqlglot.tokenizer_core import TokenType

T = TokenType

SYMBOLS = {
    "==": T.EQ,
    "<>": T.NEQ,
    "!=": T.NEQ,
    "<=": T.LTE,
    ">=": T.GTE,
    "//": T.DIV,
    "||": T.DPIPE,
    "::": T.DCOLON,
}
WORDS = {
    "AND": T.AND,
    "AS": T.ALIAS,
    "BETWEEN": T.BETWEEN,
    "CASE": T.CASE,
    "ELSE": T.ELSE,
    "END": T.END,
    "FALSE": T.FALSE,
    "FROM": T.FROM,
    "ILIKE": T.ILIKE,
    "IN": T.IN,
    "IS": T.IS,
    "LIKE": T.LIKE,
    "NOT": T.NOT,
    "NULL": T.NULL,
    "OR": T.OR,
    "SELECT": T.SELECT,
    "THEN": T.THEN,
    "TRUE": T.TRUE,
    "WHEN": T.WHEN,
}


class Level(IntEnum):
    """Operator precedence, from loose to tight."""

    OR = 1
    AND = 2
    NOT = 3
    IS = 4
    COMPARE = 5
    RANGE = 6
    JOIN = 7
    ADD = 8
    MULTIPLY = 9
    POWER = 10
    SIGN = 11
    CAST = 12


BINARY: dict[TokenType, tuple[int, type[exp.Binary]]] = {
    T.OR: (Level.OR, exp.Or),
    T.AND: (Level.AND, exp.And),
    T.EQ: (Level.COMPARE, exp.EQ),
    T.NEQ: (Level.COMPARE, exp.NEQ),
    T.LT: (Level.COMPARE, exp.LT),
    T.LTE: (Level.COMPARE, exp.LTE),
    T.GT: (Level.COMPARE, exp.GT),
    T.GTE: (Level.COMPARE, exp.GTE),
    T.LIKE: (Level.RANGE, exp.Like),
    T.ILIKE: (Level.RANGE, exp.ILike),
    T.DPIPE: (Level.JOIN, exp.DPipe),
    T.PLUS: (Level.ADD, exp.Add),
    T.DASH: (Level.ADD, exp.Sub),
    T.STAR: (Level.MULTIPLY, exp.Mul),
    T.SLASH: (Level.MULTIPLY, exp.Div),
    T.DIV: (Level.MULTIPLY, exp.IntDiv),
    T.MOD: (Level.MULTIPLY, exp.Mod),
    T.CARET: (Level.POWER, exp.Pow),
}
POSTFIX = {T.IS: Level.IS, T.IN: Level.RANGE, T.BETWEEN: Level.RANGE, T.DCOLON: Level.CAST}
AFTER_NOT = (T.IN, T.LIKE, T.ILIKE, T.BETWEEN)
CONSTANTS: dict[TokenType, Callable[[], exp.Expr]] = {
    T.NULL: exp.Null,
    T.TRUE: lambda: exp.Boolean(this=True),
    T.FALSE: lambda: exp.Boolean(this=False),
}
HINTS = {
    T.ALIAS: "the box names its fields, not AS",
    T.SELECT: "an expression can't contain a query",
    T.SEMICOLON: "write one expression",
    T.COMMA: "write one expression",
    T.L_BRACKET: "lists are not supported",
    T.L_BRACE: "braces are not supported",
    T.ARROW: "lambdas are not supported",
}


class Tokenizer(tokens.Tokenizer):
    """Splits a text into the tokens of the grammar; all other words are names."""

    KEYWORDS: ClassVar[dict[str, TokenType]] = {**SYMBOLS, **WORDS}
