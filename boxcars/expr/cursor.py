"""A place in a text: the words that follow, and what is wrong with them."""

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
    """Walks over the words of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        try:
            self.tokens = Tokenizer().tokenize(text)
        except TokenError:
            raise self.wrong("a quote or comment is never closed") from None
        if len(self.tokens) > MAX_TOKENS:
            raise self.wrong(f"it has more than {MAX_TOKENS} words")

    # -- tokens

    @property
    def kind(self) -> TokenType | None:
        """The kind of the word at hand, None at the end."""
        return self.tokens[self.at].token_type if self.at < len(self.tokens) else None

    @property
    def word(self) -> str:
        """The word at hand in lower case, or nothing if it is a symbol or quoted."""
        return self.tokens[self.at].text.lower() if self.kind is T.VAR else ""

    def next_is(self, *kinds: TokenType) -> bool:
        """Whether the next word is of one of these kinds."""
        return self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].token_type in kinds

    def take(self) -> Token:
        """Return the word at hand and go on."""
        self.at += 1
        return self.tokens[self.at - 1]

    def match(self, kind: TokenType) -> bool:
        """Go on if the word at hand is of a kind."""
        found = self.kind is kind
        self.at += found
        return found

    def match_word(self, word: str) -> bool:
        """Go on if the word at hand is this one."""
        found = self.word == word
        self.at += found
        return found

    def need(self, kind: TokenType, name: str) -> None:
        """Go on over a word that must be there."""
        if not self.match(kind):
            raise self.unexpected(f"{name} is missing")

    # -- complaints

    def wrong(self, reason: str) -> Wrong:
        """Return a complaint about the text."""
        return Wrong(f"can't read '{shorten(self.text)}': {reason}.")

    def unexpected(self, instead: str = "") -> Wrong:
        """Return a complaint about the word at hand."""
        if self.kind is None:
            return self.wrong(f"{instead or 'something is missing'} at the end")
        token = self.tokens[self.at]
        hint = instead or HINTS.get(token.token_type, "")
        if self.word == "over":
            hint = "windows belong to an aggregate box"
        words = self.text[token.start : token.end + 1]
        place = f"unexpected '{shorten(words, 20)}' at {self.place(token.start)}"
        return self.wrong(f"{place} ({hint})" if hint else place)

    def place(self, offset: int) -> str:
        """Return a place in the text in words."""
        before = self.text[:offset]
        column = offset - before.rfind("\n")
        lines = before.count("\n")
        return f"line {lines + 1}, column {column}" if lines else f"column {column}"

    # -- places

    def spanned(self, start: int, node: exp.Expr) -> exp.Expr:
        """Note in a node which words it was made of, from ``start`` up to here."""
        node.meta["span"] = (self.tokens[start].start, self.tokens[self.at - 1].end + 1)
        return node
