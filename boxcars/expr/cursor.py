"""A cursor over the tokens of a text, which also reports syntax errors."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from boxcars.expr.words import HINTS, Tokenizer
from boxcars.model.problem import Wrong

T = TokenType
MAX_TOKENS = 10_000


def shorten(text: str, limit: int = 60) -> str:
    """Return a text short enough for a message."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


class Cursor:
    """Walks over the tokens of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        try:
            self.tokens = Tokenizer().tokenize(text)
        except TokenError:
            raise self.wrong("a quote or comment is never closed") from None
        if len(self.tokens) > MAX_TOKENS:
            raise self.wrong(f"it has more than {MAX_TOKENS} tokens")

    # -- tokens

    @property
    def kind(self) -> TokenType | None:
        """The kind of the current token, None at the end."""
        return self.tokens[self.at].token_type if self.at < len(self.tokens) else None

    @property
    def word(self) -> str:
        """The current token in lower case, empty if it is a symbol or quoted."""
        return self.tokens[self.at].text.lower() if self.kind is T.VAR else ""

    def next_is(self, *kinds: TokenType) -> bool:
        """Whether the next token is of one of these kinds."""
        return self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].token_type in kinds

    def take(self) -> Token:
        """Return the current token and advance."""
        self.at += 1
        return self.tokens[self.at - 1]

    def match(self, kind: TokenType) -> bool:
        """Advance if the current token is of a kind."""
        found = self.kind is kind
        self.at += found
        return found

    def match_word(self, word: str) -> bool:
        """Advance if the current token is this word."""
        found = self.word == word
        self.at += found
        return found

    def need(self, kind: TokenType, name: str) -> None:
        """Advance over a required token."""
        if not self.match(kind):
            raise self.unexpected(f"{name} is missing")

    # -- errors

    def wrong(self, reason: str) -> Wrong:
        """Return an error about the text."""
        return Wrong(f"can't read '{shorten(self.text)}': {reason}.")

    def unexpected(self, instead: str = "") -> Wrong:
        """Return an error about the current token."""
        if self.kind is None:
            return self.wrong(f"{instead or 'something is missing'} at the end")
        token = self.tokens[self.at]
        hint = instead or HINTS.get(token.token_type, "")
        if self.word == "over":
            hint = "windows belong to an aggregate box"
        words = self.text[token.start : token.end + 1]
        found = f"unexpected '{shorten(words, 20)}' at {self.location(token.start)}"
        return self.wrong(f"{found} ({hint})" if hint else found)

    def location(self, offset: int) -> str:
        """Return the line and column of an offset, for messages."""
        before = self.text[:offset]
        column = offset - before.rfind("\n")
        lines = before.count("\n")
        return f"line {lines + 1}, column {column}" if lines else f"column {column}"

    # -- spans

    def spanned(self, start: int, node: exp.Expr) -> exp.Expr:
        """Record in a node the span of its tokens, from ``start`` up to the current one."""
        node.meta["span"] = (self.tokens[start].start, self.tokens[self.at - 1].end + 1)
        return node
