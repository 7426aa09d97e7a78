"""Which columns and centres a second moment may have."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from executors.pricing.covariance import Box, box
from planner.calculus.cost import Unit
from planner.facts import Column, Facts
from planner.mechanism import Complaint

__all__ = [
    "MOST_COLUMNS",
    "NO_PURE_EPS",
    "Center",
    "box_of",
    "center_complaints",
    "center_rules",
    "complaints",
    "silent_rules",
]

Center = Literal["private", "midpoint"] | tuple[Fraction, ...]
"""`private`: about a released mean; `midpoint`: about the middle of every range; else constants."""

NO_PURE_EPS: Mapping[Unit, str] = {
    "eps": "Gaussian noise has no pure-eps guarantee: write `rho=...`, `mu=...` or "
    "`eps=..., delta=...`"
}
"""The way out for a cost in eps."""

MOST_COLUMNS = 2000
_NUMBERS = ("real", "integer", "boolean", "genotype", "duration", "event")
_LARGEST = Fraction(10**100)
_CODE_COLUMNS, _CODE_BOUNDS, _CODE_CENTER, _CODE_SOURCE = (
    "DPQL-E055",
    "DPQL-E056",
    "DPQL-E057",
    "DPQL-E059",
)


def complaints(facts: Facts) -> tuple[Complaint, ...]:
    """What is wrong with the source and its columns, whatever the options."""
    found = list(_source_complaints(facts))
    count = len(facts.columns)
    if count == 0:
        found.append(
            Complaint(
                _CODE_COLUMNS,
                "there is no column to compute a covariance of",
                "columns",
                note="only numeric columns with bounds and boolean columns without a role are "
                "taken by default",
                help="declare `REAL IN [lo, hi]` columns, or name some with `COLUMNS (...)`",
            )
        )
    if count > MOST_COLUMNS:
        found.append(
            Complaint(
                _CODE_COLUMNS,
                f"a covariance takes at most {MOST_COLUMNS} columns, not {count}",
                "columns",
                help="name the columns that matter with `COLUMNS (...)`",
            )
        )
    for column in facts.columns:
        complaint = _column_complaint(column)
        if complaint is not None:
            found.append(complaint)
    return tuple(found)


def center_complaints(center: Center, facts: Facts) -> tuple[Complaint, ...]:
    """What is wrong with a list of public constants."""
    if not isinstance(center, tuple):
        return ()
    if len(center) != len(facts.columns):
        return (
            Complaint(
                _CODE_CENTER,
                f"`center` lists {len(center)} numbers for {len(facts.columns)} columns",
                "center",
                note="one public number for each column, in the order of COLUMNS",
                help="write one number a column, or `center=private`",
            ),
        )
    if any(abs(value) > _LARGEST for value in center):
        return (
            Complaint(
                _CODE_CENTER, "a number of `center` is beyond what can be computed", "center"
            ),
        )
    return ()


def box_of(center: Center, facts: Facts) -> Box:
    """The public map onto the unit box, about the middle of every range or about the constants."""
    return box(facts.columns, center if isinstance(center, tuple) else None)


def center_rules(center: Center) -> tuple[str, ...]:
    """What a matrix about public constants is, as a plain sentence."""
    if center == "private":
        return ()
    return (
        "The matrix is a second moment about public constants, not a covariance: it contains "
        "the squared distance of the mean from them.",
    )


def silent_rules(facts: Facts) -> tuple[str, ...]:
    """What happens to rows without anybody being told, as plain sentences."""
    rules = [
        "Values outside their range are moved to the nearest bound; how many is not told.",
        "Missing, infinite and unreadable values become the middle of the range (a boolean: false) "
        "silently, which shrinks variances and correlations by about the missing share.",
    ]
    if facts.source.max_rows > 1:
        rules.append(
            f"Rows of a person beyond {facts.source.max_rows} are replaced in the same way."
        )
    return tuple(rules)


def _source_complaints(facts: Facts) -> tuple[Complaint, ...]:
    found = []
    if len(facts.sources) > 1:
        found.append(
            Complaint(
                _CODE_SOURCE,
                "a covariance is about one dataset",
                "on",
                help="write one statement for each dataset",
            )
        )
    if facts.source.role("log_evalue"):
        found.append(
            Complaint(
                _CODE_SOURCE,
                f"the rows of `{facts.source.dataset}` are hypotheses, not people",
                "on",
                note="one person of the study behind a LOG_EVALUE column may move every row, and "
                "nothing is known about by how much in the other columns",
                help="name a dataset with one row a person",
            )
        )
    if facts.source.rows < 2:
        found.append(Complaint(_CODE_SOURCE, "a covariance needs at least two rows", "on"))
    return tuple(found)


def _column_complaint(column: Column) -> Complaint | None:
    kind = column.type.upper()
    if column.pattern:
        return Complaint(
            _CODE_COLUMNS,
            f"the pattern `{column.name}` stands for many columns",
            "columns",
            help="name each column of the matrix in the dataset",
        )
    if column.type not in _NUMBERS:
        return Complaint(
            _CODE_COLUMNS,
            f"`{column.name}` is a {kind} column, and has no covariance",
            "columns",
            note="numbers are REAL, INTEGER, DURATION and GENOTYPE; BOOLEAN and EVENT count as 0 "
            "and 1",
            help=f"leave `{column.name}` out of COLUMNS",
        )
    bounds = column.bounds
    if bounds is None:
        return Complaint(
            _CODE_BOUNDS,
            f"`{column.name}` has no bounds",
            "columns",
            note="without bounds one person could move the result by any amount, and no noise "
            "would hide it",
            help=f"declare `{column.name} {kind} IN [lo, hi]`",
        )
    if max(abs(bound) for bound in bounds) > _LARGEST or bounds[1] - bounds[0] < 1 / _LARGEST:
        return Complaint(
            _CODE_BOUNDS,
            f"the range of `{column.name}` is beyond what can be computed",
            "columns",
            note="its square must fit into a floating-point number",
        )
    return None
