"""A tree as text in its canonical form."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from grammar import tree
from grammar.diagnostics import Diagnostic, has_errors
from grammar.layout import Piece, comment_text, lines, settled
from grammar.parser import parse
from grammar.source import Source
from grammar.tree import NOWHERE, Comment, Script, Statement
from grammar.wording import (
    clause,
    declaration,
    defined,
    expression,
    item,
    listed,
    name,
    option,
    text,
)

__all__ = ["format_source", "print_script"]

_CLAUSE = 2
_COLUMN = 4
_LONGEST_PADDED = 30


def format_source(source: Source) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text as `fmt` writes it, with the findings; with an error among them, as it was."""
    script, findings = parse(source)
    if has_errors(findings):
        return source.text, findings
    return print_script(script), findings


def print_script(script: Script) -> str:
    """The text of a tree: one form for all trees that say the same, comments kept.

    Parsing what it prints gives an equal tree, and printing that gives the same text. A comment on
    its own line stays before what follows, one behind code stays behind what precedes. Single blank
    lines between statements are kept.
    """
    comments = sorted(script.comments, key=lambda comment: comment.span.start)
    ends = [statement.span.end for statement in script.statements]
    ahead: list[list[Comment]] = [[] for _ in range(len(ends) + 1)]
    within: list[list[Comment]] = [[] for _ in ends]
    behind: list[list[Comment]] = [[] for _ in ends]
    for comment in comments:
        number = bisect_right(ends, comment.span.start)
        if number < len(ends) and comment.span.start > script.statements[number].span.start:
            within[number].append(comment)
        elif comment.own_line or number == 0:
            ahead[number].append(comment)
        else:
            behind[number - 1].append(comment)
    page = _Page(script.source.text)
    for number, statement in enumerate(script.statements):
        pieces = _pieces(statement)
        _place(pieces, within[number])
        early, shown = settled(behind[number])
        for comment in ahead[number]:
            page.add([comment_text(comment)], comment.span.start, comment.span.end)
        page.add([comment_text(comment) for comment in early], None, 0)
        last = shown[-1].span.end if shown else statement.span.end
        blank = statement.span == NOWHERE and _stands_apart(script.statements, number)
        page.add(lines(pieces, shown), statement.span.start, last, blank)
    for comment in ahead[-1]:
        page.add([comment_text(comment)], comment.span.start, comment.span.end)
    return page.text()


class _Page:
    """Lines with the blank lines that the source had between them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._lines: list[str] = []
        self._end = 0

    def add(self, new: list[str], start: int | None, end: int, blank: bool = False) -> None:
        """Appends lines that stood from `start` to `end`; None for what has no place of its own."""
        if not new:
            return
        if start is not None:
            blank = blank or self._source.count("\n", self._end, start) > 1
            if self._lines and blank:
                self._lines.append("")
            self._end = max(end, self._end)
        self._lines += new

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)


def _stands_apart(statements: Sequence[Statement], number: int) -> bool:
    """Whether a statement without a place in a text gets a blank line before it."""
    kinds = {type(statement) for statement in statements[number - 1 : number + 1]}
    return number > 0 and bool(kinds & {tree.Dataset, tree.Policy, tree.Study})


def _place(pieces: Sequence[Piece], comments: Sequence[Comment]) -> None:
    """Gives each comment inside a statement to a piece."""
    if not comments:
        return
    order = sorted(pieces, key=lambda piece: piece.start)
    starts = [piece.start for piece in order]
    for comment in comments:
        previous = order[max(0, bisect_right(starts, comment.span.start) - 1)]
        if previous.start <= comment.span.start < previous.end:
            previous.before.append(comment)
        elif not comment.own_line:
            previous.after.append(comment)
        else:
            following = bisect_left(starts, comment.span.end)
            if following < len(order):
                order[following].before.append(comment)
            else:
                previous.before.append(comment)


def _pieces(statement: Statement) -> list[Piece]:
    start, end = statement.span.start, statement.span.end
    match statement:
        case tree.Dataset():
            head = Piece(f"DATASET {name(statement.name)}", start, statement.name.span.end)
            return [head, *(piece for part in statement.clauses for piece in _clause(part))]
        case tree.Policy():
            head = Piece(f"POLICY {name(statement.dataset)}", start, statement.dataset.span.end)
            return [head, *(piece for part in statement.clauses for piece in _clause(part))]
        case tree.Let():
            words = f"LET {defined(statement.name)} = {expression(statement.value)}"
            return [Piece(words, start, end)]
        case tree.Study():
            return _study(statement)
        case tree.Evalues():
            head = Piece(f"EVALUES {name(statement.name)}", start, statement.name.span.end)
            return [head, *_items(statement.items)]
        case tree.Measurement():
            words = f"{statement.verb} {statement.method.text}"
            pieces = [Piece(words, start, statement.method.span.end), *_items(statement.items)]
            if statement.name is not None:
                place = statement.name.span
                pieces.append(Piece(f"AS {name(statement.name)}", place.start, place.end, _CLAUSE))
            return pieces
        case tree.Derive():
            given = [expression(argument) for argument in statement.arguments]
            given += [option(argument) for argument in statement.options]
            words = f"DERIVE {defined(statement.name)} = {statement.function.text}({listed(given)})"
            return [Piece(words, start, end)]
        case tree.Expect():
            goal = f"{name(statement.release)}.{name(statement.metric)}"
            words = f"EXPECT {goal} {statement.comparison} {expression(statement.value)}"
            return [Piece(words, start, end)]


def _items(items: tuple[tree.Item, ...]) -> list[Piece]:
    return [
        Piece(item(part), part.span.start, part.span.end, _CLAUSE) for part in tree.in_order(items)
    ]


def _clause(node: tree.DatasetClause | tree.PolicyClause) -> list[Piece]:
    start, end = node.span.start, node.span.end
    if not isinstance(node, tree.ColumnDeclarations):
        return [Piece(clause(node), start, end, _CLAUSE, True)]
    rows = [declaration(column) for column in node.columns]
    padding = max(
        (len(words) for words, _ in rows if len(words) <= _LONGEST_PADDED),
        default=0,
    )
    pieces = [Piece("COLUMNS (", start, start + len("COLUMNS"), _CLAUSE, True)]
    for number, (column, (words, type)) in enumerate(zip(node.columns, rows, strict=True)):
        comma = "," if number + 1 < len(rows) else ""
        line = f"{words:<{padding}} {type}{comma}"
        pieces.append(Piece(line, column.span.start, column.span.end, _COLUMN, True))
    pieces.append(Piece(")", max(end - 1, start), end, _CLAUSE, True, _CLAUSE))
    return pieces


def _study(statement: tree.Study) -> list[Piece]:
    several = len(statement.entries) > 1
    start = statement.span.start
    pieces = [Piece("STUDY", start, start + len("STUDY"))]
    for number, (key, value) in enumerate(statement.entries):
        comma = "," if number + 1 < len(statement.entries) else ""
        words = f"{defined(key)} = {text(value)}{comma}"
        pieces.append(Piece(words, key.span.start, value.span.end, _CLAUSE, several))
    return pieces
