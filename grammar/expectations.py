"""What a statement lacks, in the user's words; each code here is about a whole statement.

E012 something else was expected · E013 no statement word · E014 a reserved word as a name
E015 brackets do not match · E016 two statements in one · E017 a cost where none can stand
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from grammar.automaton import Stuck
from grammar.complaints import shown
from grammar.diagnostics import Diagnostic, Label
from grammar.scan import Token
from grammar.source import Span
from grammar.spelling import nearest
from grammar.wanted import WRITTEN, wanted
from grammar.words import LOCAL_WORDS, RESERVED, STATEMENT_WORDS, VERBS

__all__ = ["after_the_name", "no_statement", "twice", "unexpected"]

_WORDS = ", ".join(STATEMENT_WORDS)
_NAMES = frozenset(["NAME", "QUOTED", "AUTO"])
_PAIRS = {"LPAR": "RPAR", "LSQB": "RSQB"}
_NAMING = frozenset(["DATASET", "POLICY", "UNIT", "POPULATION"])
_LOCAL = LOCAL_WORDS["DATASET"] | LOCAL_WORDS["POLICY"]
# What can never stand inside a bracket.
_OUTSIDE = (RESERVED - {"IN", *STATEMENT_WORDS}) | {"COST", "DELTA", "SEMICOLON"}
_FORMULA = frozenset(
    [
        "NAME",
        "QUOTED",
        "AUTO",
        "NUMBER",
        "PLUS",
        "MINUS",
        "STAR",
        "COLON",
        "BAR",
        "LPAR",
        "RPAR",
        "COMMA",
    ]
)
_LAST = ("RPAR", "RSQB")
_SHOWN = 20


def unexpected(tokens: Sequence[Token], stuck: Stuck) -> Diagnostic:
    """The finding for the place where a statement's tokens stop making sense."""
    before = tokens[stuck.index - 1] if stuck.index else None
    opener = _opener(tokens[: stuck.index])
    labels = (Label(Span(opener[2], opener[3]), "opened here"),) if opener else ()
    if before is not None and stuck.expected == {"PERCENT"}:
        return _lone_number(before)
    if stuck.index == len(tokens):
        return _ended(tokens, stuck.expected, opener, labels)
    token = tokens[stuck.index]
    kind, text, start, end, _ = token
    span = Span(start, end)
    if opener is not None and _PAIRS[opener[0]] in stuck.expected and kind in _OUTSIDE:
        return _unclosed(opener, Span(start, start))
    if kind in ("COST", "DELTA"):
        return _misplaced_cost(token, tokens[0], stuck)
    if before is not None and before[0] == "METHOD" and kind == "EQUAL":
        verb = tokens[0][1].upper()
        return Diagnostic(
            "DPQL-E012",
            f"a method is missing between `{verb}` and {shown(before[1] + '=')}",
            Span(before[2], before[3]),
            note=f"the word after `{verb}` is always its method",
        )
    if kind in RESERVED and stuck.expected & {"NAME", "QUOTED"} and not _begins_clause(stuck):
        return Diagnostic(
            "DPQL-E014",
            f"`{text}` is a word of the language and cannot be a name here",
            span,
            help=f'write it in quotes, `"{text}"`, or choose another name',
        )
    if kind in _LAST and (opener is None or _PAIRS[opener[0]] != kind):
        return _closed(token, opener, labels)
    if before is not None and before[0] in _LOCAL and tokens[stuck.index - 2][0] in _NAMING:
        return Diagnostic(
            "DPQL-E012",
            f"a name is missing between `{tokens[stuck.index - 2][1]}` and `{before[1]}`",
            Span(before[2], before[3]),
        )
    if kind in ("CARET", "SLASH", "STRING", "LSQB") and _in_formula(tokens, stuck):
        return Diagnostic(
            "DPQL-E012",
            f"{shown(text)} has no meaning in a model formula",
            span,
            help="a formula takes names, numbers, calls and `+ - * : | ( )`",
        )
    help = ""
    if kind in ("NAME", "METHOD"):
        meant = nearest(text, sorted(word for word in stuck.expected if word not in WRITTEN))
        help = f"did you mean `{meant}`?" if meant else ""
    if before is not None and "IN" in (before[0], _before(tokens, opener)):
        help = "bounds are written `IN [lo, hi]`"
    after = f" after {shown(before[1])}" if before is not None else ""
    return Diagnostic(
        "DPQL-E012",
        f"expected {wanted(stuck, tokens)}{after}, found {shown(text)}",
        span,
        help=help,
        labels=labels,
    )


def _closed(token: Token, opener: Token | None, labels: tuple[Label, ...]) -> Diagnostic:
    """A closing bracket without its opening one."""
    text, span = token[1], Span(token[2], token[3])
    if opener is None:
        return Diagnostic("DPQL-E015", f"`{text}` closes nothing", span, help="delete it")
    return Diagnostic(
        "DPQL-E015",
        f"`{opener[1]}` is closed by `{text}`",
        span,
        help=f"close it with {WRITTEN[_PAIRS[opener[0]]]}",
        labels=labels,
    )


def _lone_number(before: Token) -> Diagnostic:
    """A number where a word must stand."""
    number = before[1] if len(before[1]) < _SHOWN else "n"
    return Diagnostic(
        "DPQL-E012",
        f"the number {shown(before[1])} stands alone",
        Span(before[2], before[3]),
        help=f"write `name={number}`, a cost such as `eps={number}`, or a share such as `5%`",
    )


def _ended(
    tokens: Sequence[Token],
    expected: frozenset[str],
    opener: Token | None,
    labels: tuple[Label, ...],
) -> Diagnostic:
    last = tokens[-1]
    place = Span(last[3], last[3])
    if opener is not None and _PAIRS[opener[0]] in expected:
        return _unclosed(opener, place)
    missing = wanted(Stuck(len(tokens), expected, False), tokens)
    return Diagnostic(
        "DPQL-E012",
        f"the statement ends after {shown(last[1])}, where {missing} is missing",
        place,
        labels=labels,
    )


def _unclosed(opener: Token, place: Span) -> Diagnostic:
    closing = WRITTEN[_PAIRS[opener[0]]]
    return Diagnostic(
        "DPQL-E015",
        f"the `{opener[1]}` that opens here is never closed",
        Span(opener[2], opener[3]),
        help=f"close it with {closing}",
        labels=(Label(place, f"{closing} is missing at the latest here"),),
    )


def _opener(tokens: Sequence[Token]) -> Token | None:
    """The innermost bracket that is still open."""
    stack = []
    for token in tokens:
        if token[0] in _PAIRS:
            stack.append(token)
        elif token[0] in _LAST and stack:
            stack.pop()
    return stack[-1] if stack else None


def _before(tokens: Sequence[Token], opener: Token | None) -> str:
    """The kind of the token before a bracket."""
    for previous, token in pairwise(tokens):
        if token is opener:
            return previous[0]
    return ""


def _in_formula(tokens: Sequence[Token], stuck: Stuck) -> bool:
    """Whether the place lies behind `~` with nothing but a formula's own tokens between."""
    for token in reversed(tokens[: stuck.index]):
        if token[0] == "TILDE":
            return True
        if token[0] not in _FORMULA:
            return False
    return False


def _begins_clause(stuck: Stuck) -> bool:
    """Whether a name is only one of many things that could begin here."""
    return "ON" in stuck.expected and "BY" in stuck.expected


def _misplaced_cost(token: Token, first: Token, stuck: Stuck) -> Diagnostic:
    word = token[1]
    span = Span(token[2], token[3])
    if stuck.expected & {"COST"} or first[0] in (*VERBS, "EVALUES"):
        if token[0] == "DELTA":
            return Diagnostic(
                "DPQL-E017",
                f"`{word}` stands alone: it belongs right after the `eps` of the same cost",
                span,
                help="write `eps=1, delta=1e-6`",
            )
    elif first[0] == "DATASET":
        return Diagnostic(
            "DPQL-E017",
            f"`{word}=` is a cost, and a dataset's cost needs the word BUDGET before it",
            span,
            help=f"write `BUDGET {word}=...`",
        )
    elif stuck.expected & _NAMES:
        return Diagnostic(
            "DPQL-E017",
            f"`{word}` before `=` is always a cost and cannot be a name here",
            span,
            help=f'choose another name, or write it in quotes: `"{word}"`',
        )
    return Diagnostic("DPQL-E017", f"a cost such as `{word}=` cannot stand here", span)


def no_statement(token: Token, meant: str | None) -> Diagnostic:
    """E013: a statement that does not begin with a statement word."""
    return Diagnostic(
        "DPQL-E013",
        f"{shown(token[1])} does not begin a statement",
        Span(token[2], token[3]),
        note="" if meant else f"statements begin with {_WORDS}",
        help=f"did you mean `{meant}`?" if meant else "",
    )


def after_the_name(token: Token, name: Token) -> Diagnostic:
    """E016: something follows `AS name`."""
    ending = shown(f"AS {name[1]}")
    return Diagnostic(
        "DPQL-E016",
        f"{ending} ends the statement; a statement word is missing before {shown(token[1])}",
        Span(token[2], token[3]),
        help=f"put it before {ending}, or begin the next statement with {', '.join(VERBS)}",
        labels=(Label(Span(name[2], name[3]), "the statement ends here"),),
    )


def twice(what: str, first: Span, second: Span) -> Diagnostic:
    """E016: one statement with two costs, or two of another thing that it has once."""
    return Diagnostic(
        "DPQL-E016",
        f"a second {what} in one statement; is a statement word missing before it?",
        second,
        help="begin the next statement with its word"
        + (
            ", or write `BUDGET eps=1 AT a AND mu=0.4 AT b` for two sources"
            if what == "cost"
            else ""
        ),
        labels=(Label(first, f"the first {what}"),),
    )
