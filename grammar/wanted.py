"""What would fit at a place, in the user's words."""

from __future__ import annotations

from collections.abc import Sequence

from grammar.automaton import Stuck
from grammar.scan import Token
from grammar.words import DATASET_CLAUSES, POLICY_CLAUSES, VERBS

__all__ = ["WRITTEN", "wanted"]

_VALUE = frozenset(["NUMBER", "STRING", "NAME", "AUTO", "QUOTED", "LPAR", "LSQB", "PLUS", "MINUS"])
_TERM = _VALUE - {"STRING", "LSQB"}
_ITEM = frozenset(
    ["NAME", "QUOTED", "AUTO", "NUMBER", "COST", "BUDGET", "ON", "COLUMNS", "BY", "AS", "COMMA"]
)
_NAMES = frozenset(["NAME", "QUOTED", "AUTO"])
_GROWING = frozenset(["PLUS", "MINUS", "STAR", "SLASH", "CARET", "COLON", "BAR", "DOT"])
_OWN_WORDS = frozenset(
    [
        "MAX",
        "HYPOTHESES",
        "SENSITIVITY",
        "ASSERTED_BY",
        "PER",
        "DAYS",
        "FOR",
        "ANALYST",
        "APPROVALS",
        "WHEN",
    ]
)
# The first group that fits entirely is named by its phrase, and its companions go unsaid.
_GROUPS = (
    (_VALUE, "a value", frozenset(["RSQB"])),
    (_TERM, "a term", frozenset[str]()),
    (_ITEM - {"COMMA", "AS"}, "an option, a clause or a cost", frozenset(["COMMA", "AS"])),
    (_NAMES, "a name", DATASET_CLAUSES | POLICY_CLAUSES | _OWN_WORDS),
)
WRITTEN = {
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COMMA": "`,`",
    "DOT": "`.`",
    "EQUAL": "`=`",
    "COMPARE": "",
    "LESSEQUAL": "`<=`",
    "TILDE": "`~`",
    "PERCENT": "`%`",
    "NUMBER": "a number",
    "STRING": "a text in `'...'`",
    "COST": "a cost such as `eps=1`",
    "DELTA": "",
    "AUTO": "`auto`",
    "METHOD": "a method",
    "QUOTED": "a quoted name",
}
_MOST = 6


def wanted(stuck: Stuck, tokens: Sequence[Token]) -> str:
    """`a value`, "`,` or `)`", `a clause such as COLUMNS`: at most six things."""
    left = set(stuck.expected)
    words: list[str] = []
    for group, phrase, companions in _GROUPS:
        if group <= left:
            words.append(phrase)
            left -= group | companions
            break
    if left >= DATASET_CLAUSES:
        words.append("a clause such as COLUMNS")
        left -= DATASET_CLAUSES | {"MAX"}
    elif left >= POLICY_CLAUSES:
        words.append("a clause (CAP, ALLOW, FORBID, REQUIRE)")
        left -= POLICY_CLAUSES
    if left.issuperset(VERBS):
        words.append("a verb")
        left.difference_update(VERBS)
    if tokens[0][0] == "EXPECT" and "DOT" in left:
        words.append("`.` with a metric such as `.power`")
    left -= _GROWING
    if "COMPARE" in left:
        words.append("`>=`")
        left -= {"COMPARE", "LESSEQUAL", "EQUAL"}
    if left in ({"NAME"}, {"NAME", "METHOD"}):
        words.append(_single_name(tokens, stuck.index, "METHOD" in left))
        left.clear()
    if words[:1] == ["a name"] and "STRING" in left:
        words.append("a pattern in `'...'`")
        left.discard("STRING")
    left.discard("NAME")
    rest = [WRITTEN.get(kind, kind) for kind in sorted(left, key=_order)]
    words += [word for word in rest if word][: _MOST - len(words)]
    if stuck.complete and len(words) < _MOST:
        words.append("the next statement")
    if not words:
        return "something else"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _order(kind: str) -> tuple[int, str]:
    """Punctuation first."""
    return (0 if kind in WRITTEN else 1, kind)


def _single_name(tokens: Sequence[Token], index: int, method: bool) -> str:
    """What a place that takes only a plain word is for."""
    if method:
        return "a method"
    statement = tokens[0][0]
    before = tokens[index - 1][0] if index else tokens[0][0]
    if before == "NEIGHBORS":
        return "`replace`"
    if statement == "DERIVE":
        return "a function"
    if statement == "DATASET":
        return "a type such as REAL"
    return "a name"
