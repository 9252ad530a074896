"""Parser: from SQL text to a tree of sqlglot nodes.

Tokens and nodes are sqlglot's, the grammar is ours: the compiled sqlglot can't be subclassed, and a
grammar of our own is strict and reports where a text is wrong. It is the expression part of
Postgres: ``OR, AND, NOT, IS, = <> < > <= >=, IN LIKE ILIKE BETWEEN, ||, + -, * / // %, ^, unary +
-, ::`` from loose to tight; ``^`` is left-associative and ``-2 ^ 2`` is 4. ``==`` is ``=``, ``!=``
is ``<>``. Every call becomes an ``exp.Anonymous``, so the catalogue alone decides what a function
is.

``INTERVAL '5' MINUTE`` is just the number 300, and ``TIMESTAMP '2024-01-01'`` is a cast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from boxcars.expr.cast import timestamp_of
from boxcars.expr.cursor import Cursor
from boxcars.expr.seconds import interval
from boxcars.expr.words import (
    AFTER_NOT,
    BINARY,
    CONSTANTS,
    POSTFIX,
    WORDS,
    Level,
)
from boxcars.model.problem import Wrong

T = TokenType
MAX_DEPTH = 120


@dataclass(frozen=True)
class Tree:
    """A text and its tree; every node knows its span of the text."""

    text: str
    root: exp.Expr

    def words(self, node: exp.Expr) -> str:
        """Return the user's text of a node.

        >>> tree = parse("(a+1) > 5 AND b")
        >>> tree.words(tree.root.this)
        '(a+1) > 5'
        """
        start, end = node.meta["span"]
        return self.text[start:end]


@lru_cache(maxsize=10_000)
def parse(text: str) -> Tree:
    """Return the tree of an expression.

    >>> parse("price >").root
    Traceback (most recent call last):
    boxcars.model.problem.Wrong: can't read 'price >': something is missing at the end.
    """
    return Tree(text, _Parser(text).parse())


class _Parser(Cursor):
    """A precedence climbing parser: one method for each kind of phrase."""

    depth = 0

    def parse(self) -> exp.Expr:
        if not self.tokens:
            raise Wrong("an expression is missing.")
        node = self.expression()
        if self.kind is not None:
            raise self.unexpected()
        return node

    def expression(self, floor: int = 0) -> exp.Expr:
        """Parse an expression of operators that bind at least as tightly as ``floor``."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.wrong(f"it is nested more than {MAX_DEPTH} deep")
        start = self.at
        left = self.operand()
        while (level := self.level()) >= max(floor, 1):
            left = self.spanned(start, self.operation(start, left, level))
        self.depth -= 1
        return left

    def level(self) -> int:
        """Precedence of the current operator; 0 if there is none."""
        if self.kind is None:
            return 0
        if self.kind is T.NOT:
            return Level.RANGE if self.next_is(*AFTER_NOT) else 0
        if self.kind in BINARY:
            return BINARY[self.kind][0]
        return POSTFIX.get(self.kind, 0)

    def operation(self, start: int, left: exp.Expr, level: int) -> exp.Expr:
        if self.match(T.NOT):
            positive = self.spanned(start, self.operation(start, left, level))
            return exp.Not(this=positive)
        token = self.take()
        kind = token.token_type
        if kind in BINARY:
            return BINARY[kind][1](this=left, expression=self.expression(level + 1))
        if kind is T.IS:
            return self.is_phrase(start, left)
        if kind is T.IN:
            self.need(T.L_PAREN, "a list in parentheses")
            return exp.In(this=left, expressions=self.arguments(at_least=1))
        if kind is T.BETWEEN:
            low = self.expression(Level.JOIN)
            self.need(T.AND, "AND")
            return exp.Between(this=left, low=low, high=self.expression(Level.JOIN))
        return exp.Cast(this=left, to=self.type_name())

    def is_phrase(self, start: int, left: exp.Expr) -> exp.Expr:
        negated = self.match(T.NOT)
        if self.match_word("distinct"):
            self.need(T.FROM, "FROM")
            kind = exp.NullSafeEQ if negated else exp.NullSafeNEQ
            return kind(this=left, expression=self.expression(Level.COMPARE + 1))
        if self.kind not in CONSTANTS:
            raise self.unexpected("expected NULL, TRUE, FALSE or DISTINCT FROM")
        at = self.at
        constant = CONSTANTS[self.take().token_type]()
        node = exp.Is(this=left, expression=self.spanned(at, constant))
        return exp.Not(this=self.spanned(start, node)) if negated else node

    def operand(self) -> exp.Expr:
        start = self.at
        if self.match(T.L_PAREN):
            inner = self.expression()
            self.need(T.R_PAREN, "')'")
            return inner
        return self.spanned(start, self.simple())

    def simple(self) -> exp.Expr:
        kind = self.kind
        if kind in (T.VAR, T.IDENTIFIER):
            return self.named()
        if kind is T.DOT and self.next_is(T.NUMBER):
            self.take()
            return exp.Literal.number("0." + self.take().text)
        if kind is None or kind not in _OPERANDS:
            raise self.unexpected()
        return _OPERANDS[kind](self, self.take())

    def case(self, _: Token) -> exp.Expr:
        subject = None if self.kind is T.WHEN else self.expression()
        branches = []
        while self.match(T.WHEN):
            condition = self.expression()
            self.need(T.THEN, "THEN")
            branches.append(exp.If(this=condition, true=self.expression()))
        if not branches:
            raise self.unexpected("WHEN is missing")
        default = self.expression() if self.match(T.ELSE) else None
        self.need(T.END, "END")
        return exp.Case(this=subject, ifs=branches, default=default)

    def named(self) -> exp.Expr:
        """Parse a field, a call, or one of the phrases that start with a word."""
        if self.next_is(T.L_PAREN) and self.word:
            name = self.take().text
            self.take()
            phrase = _PHRASES.get(name.lower())
            return phrase(self) if phrase else _call(name, self.arguments())
        if self.next_is(T.STRING) and self.word in ("timestamp", "datetime", "date"):
            self.take()
            at = self.at
            text = self.take().text
            if timestamp_of(text) is None:
                raise Wrong(f"'{text}' is not a timestamp: write it as '2024-05-19 10:20:30'.")
            literal = exp.Literal.string(text)
            return exp.Cast(this=self.spanned(at, literal), to=exp.Var(this="timestamp"))
        if self.next_is(T.STRING, T.NUMBER) and self.word == "interval":
            self.take()
            amount = self.take().text
            return exp.Literal.number(interval(amount, self.take().text if self.word else ""))
        return self.field()

    def field(self) -> exp.Expr:
        name = self.name()
        while self.match(T.DOT):
            if self.kind not in (T.VAR, T.IDENTIFIER, *WORDS.values()):
                raise self.unexpected("a field is missing after '.'")
            name += "." + self.name()
        return exp.Column(this=exp.Identifier(this=name, quoted=False))

    def name(self) -> str:
        token = self.take()
        quoted = token.token_type is T.IDENTIFIER
        return token.text.replace('""', '"') if quoted else token.text

    def arguments(self, at_least: int = 0) -> list[exp.Expr]:
        """Parse the arguments of a call up to its ``)``; ``*`` is not an argument."""
        found: list[exp.Expr] = []
        if at_least == 0 and self.match(T.STAR):
            self.need(T.R_PAREN, "')'")
            return found
        if at_least == 0 and self.match(T.R_PAREN):
            return found
        if self.next_is(T.VAR, T.IDENTIFIER) and self.match_word("distinct"):
            raise self.unexpected("write count_distinct(x) for the number of distinct values")
        found.append(self.expression())
        while self.match(T.COMMA):
            found.append(self.expression())
        self.need(T.R_PAREN, "')'")
        return found

    def type_name(self) -> exp.Var:
        if self.kind not in (T.VAR, T.IDENTIFIER):
            raise self.unexpected("a type is missing")
        return exp.Var(this=self.take().text)

    # -- phrases in the parentheses of a call

    def cast(self) -> exp.Expr:
        this = self.expression()
        self.need(T.ALIAS, "AS")
        to = self.type_name()
        self.need(T.R_PAREN, "')'")
        return exp.Cast(this=this, to=to)

    def extract(self) -> exp.Expr:
        """``EXTRACT(hour FROM time)`` as ``extract('hour', time)``."""
        if not (self.word and self.next_is(T.FROM)):
            return _call("extract", self.arguments())
        at = self.at
        part = self.spanned_literal(at, self.take().text.lower())
        self.take()
        return _call("extract", [part, *self.arguments(at_least=1)])

    def position(self) -> exp.Expr:
        """``POSITION(part IN text)`` as ``strpos(text, part)``."""
        part = self.expression(Level.JOIN)
        self.need(T.IN, "IN")
        (text,) = self.arguments(at_least=1)[:1]
        return _call("strpos", [text, part])

    def substring(self) -> exp.Expr:
        """``SUBSTRING(text FROM start FOR length)`` as ``substring(text, start, length)``."""
        found = [self.expression()]
        if self.match(T.FROM):
            found.append(self.expression())
            if self.match_word("for"):
                found.append(self.expression())
            self.need(T.R_PAREN, "')'")
            return _call("substring", found)
        if self.match(T.COMMA):
            return _call("substring", found + self.arguments(at_least=1))
        self.need(T.R_PAREN, "')'")
        return _call("substring", found)

    def trim(self) -> exp.Expr:
        """``TRIM(LEADING '0' FROM text)`` as ``ltrim(text, '0')``."""
        names = {"leading": "ltrim", "trailing": "rtrim", "both": "trim"}
        sided = self.word in names and not self.next_is(T.R_PAREN, T.COMMA)
        name = names[self.take().text.lower()] if sided else "trim"
        if self.match(T.FROM):
            return _call(name, self.arguments(at_least=1))
        first = self.expression()
        if self.match(T.FROM):
            return _call(name, [*self.arguments(at_least=1), first])
        if self.match(T.COMMA):
            return _call(name, [first, *self.arguments(at_least=1)])
        self.need(T.R_PAREN, "')'")
        return _call(name, [first])

    def spanned_literal(self, at: int, text: str) -> exp.Expr:
        return self.spanned(at, exp.Literal.string(text))


def _call(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this=name.lower(), expressions=arguments)


_OPERANDS: dict[TokenType, Callable[[_Parser, Token], exp.Expr]] = {
    T.NUMBER: lambda _, token: exp.Literal.number(token.text),
    T.STRING: lambda _, token: exp.Literal.string(token.text),
    T.DASH: lambda parser, _: exp.Neg(this=parser.expression(Level.SIGN)),
    T.PLUS: lambda parser, _: parser.expression(Level.SIGN),
    T.NOT: lambda parser, _: exp.Not(this=parser.expression(Level.NOT)),
    T.CASE: _Parser.case,
    T.NULL: lambda *_: exp.Null(),
    T.TRUE: lambda *_: exp.Boolean(this=True),
    T.FALSE: lambda *_: exp.Boolean(this=False),
}
_PHRASES: dict[str, Callable[[_Parser], exp.Expr]] = {
    "cast": _Parser.cast,
    "try_cast": _Parser.cast,
    "extract": _Parser.extract,
    "position": _Parser.position,
    "substring": _Parser.substring,
    "trim": _Parser.trim,
}
