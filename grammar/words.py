"""The words of the language, upper case as `fmt` writes them."""

from __future__ import annotations

__all__ = [
    "COST_WORDS",
    "DATASET_CLAUSES",
    "LOCAL_WORDS",
    "POLICY_CLAUSES",
    "RESERVED",
    "STATEMENT_WORDS",
    "VERBS",
    "is_plain",
]

VERBS = ("TEST", "PEEL", "COVARIANCE", "FIT", "RELEASE")
STATEMENT_WORDS = ("DATASET", "LET", "STUDY", "EVALUES", "POLICY", *VERBS, "DERIVE", "EXPECT")
RESERVED = frozenset(
    (*STATEMENT_WORDS, "COLUMNS", "BUDGET", "ON", "VS", "BY", "AS", "AT", "AND", "IN")
)
COST_WORDS = ("eps", "delta", "rho", "mu")
DATASET_CLAUSES = frozenset(
    [
        "FROM",
        "ROWS",
        "UNIT",
        "POPULATION",
        "NEIGHBORS",
        "SITES",
        "COLUMNS",
        "CENTER",
        "NORM",
        "BUDGET",
    ]
)
POLICY_CLAUSES = frozenset(["CAP", "ALLOW", "FORBID", "REQUIRE"])
"""The words with which a clause of a DATASET, or of a POLICY, begins."""

# Words that mean something inside one statement only; elsewhere they are plain names.
LOCAL_WORDS: dict[str, frozenset[str]] = {
    "DATASET": frozenset(
        [
            "FROM",
            "ROWS",
            "UNIT",
            "MAX",
            "POPULATION",
            "NEIGHBORS",
            "SITES",
            "CENTER",
            "NORM",
            "HYPOTHESES",
            "SENSITIVITY",
            "ASSERTED_BY",
        ]
    ),
    "POLICY": frozenset(
        ["CAP", "PER", "DAYS", "FOR", "ANALYST", "ALLOW", "FORBID", "REQUIRE", "APPROVALS", "WHEN"]
    ),
}

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_LETTERS_AND_DIGITS = _LETTERS | frozenset("0123456789")


def is_plain(name: str) -> bool:
    """Whether a name may be written without quotes wherever a name is demanded."""
    return (
        name[:1] in _LETTERS
        and name != ""
        and _LETTERS_AND_DIGITS.issuperset(name)
        and name.upper() not in RESERVED
    )
