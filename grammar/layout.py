"""Pieces of a statement set on lines, with their comments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from grammar.tree import Comment
from grammar.wording import BREAK

__all__ = ["WIDTH", "Piece", "comment_text", "lines", "settled"]

WIDTH = 100
_STEP = 2


@dataclass(slots=True)
class Piece:
    """Words that stay together, where they stood in the text, and the comments that go with them.

    `own_line` asks for a new line; `indent` is that of the line which begins with this piece, and
    `inner` how much further in the comments before it stand.
    """

    text: str
    start: int
    end: int
    indent: int = 0
    own_line: bool = False
    inner: int = 0
    before: list[Comment] = field(default_factory=list)
    after: list[Comment] = field(default_factory=list)


def settled(behind: Sequence[Comment]) -> tuple[list[Comment], list[Comment]]:
    """Comments behind code: those that must go before it, and those that can stay.

    Only the last of them may reach to the end of its line or beyond.
    """
    for index in range(len(behind) - 2, -1, -1):
        if behind[index].text.startswith("--") or "\n" in behind[index].text:
            return list(behind[: index + 1]), list(behind[index + 1 :])
    return [], list(behind)


def lines(pieces: Sequence[Piece], behind: Sequence[Comment] = ()) -> list[str]:
    """The lines of a statement, `behind` standing after its last word."""
    result: list[str] = []
    line = ""
    for piece in pieces:
        early, piece.after = settled(piece.after)
        piece.before += early
        flat = piece.text.replace(BREAK, " ")
        joins = (
            line != ""
            and not piece.own_line
            and not piece.before
            and len(line) + 1 + len(flat) <= WIDTH
        )
        if joins:
            line += f" {flat}"
        else:
            if line:
                result.append(line)
            margin = " " * (piece.indent + piece.inner)
            result += [margin + comment_text(comment) for comment in piece.before]
            *full, line = _wrapped(piece.text, piece.indent)
            result += full
        if piece.after:
            result.append(" ".join([line, *map(comment_text, piece.after)]))
            line = ""
    if behind:
        words = [line] if line else ([result.pop()] if result else [])
        line = " ".join([*words, *map(comment_text, behind)])
    if line:
        result.append(line)
    return result


def comment_text(comment: Comment) -> str:
    """A comment with plain line ends and nothing behind it."""
    return "\n".join(part.rstrip() for part in comment.text.replace("\r\n", "\n").split("\n"))


def _wrapped(text: str, indent: int) -> list[str]:
    """One line where it fits, else lines broken at BREAK and filled."""
    parts: Iterable[str] = text.split(BREAK)
    result: list[str] = []
    line = ""
    margin = " " * indent
    for part in parts:
        if not line:
            line = margin + part
        elif len(line) + 1 + len(part) <= WIDTH:
            line += f" {part}"
        else:
            result.append(line)
            line = " " * (indent + _STEP) + part
    result.append(line)
    return result
