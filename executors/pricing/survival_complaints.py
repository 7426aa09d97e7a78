"""What can be wrong with the table of a survival statement, found without data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from executors.pricing.survival_covariates import covariate_domain
from executors.pricing.survival_domain import Domain
from planner.facts import Column, Facts
from planner.mechanism import Complaint
from planner.number_format import shown

__all__ = ["LARGEST", "about_columns", "about_source", "too_spread"]

NUMBERS = ("real", "integer", "boolean", "genotype")
LARGEST = Fraction(10**100)
MOST_COVARIATES = 2000


def about_source(facts: Facts, title: str) -> Iterator[Complaint]:
    """Whether the source holds one record a person, with a time and an event; `title`: `TEST x`."""
    source = facts.source
    if len(facts.sources) > 1:
        yield Complaint(
            "DPQL-E144",
            f"`{title}` reads one dataset",
            "on",
            help="write one statement for each dataset",
        )
    if source.max_rows > 1:
        yield Complaint(
            "DPQL-E144",
            f"`{source.dataset}` may hold {source.max_rows} records of one person",
            "on",
            note="in a survival analysis a person has one time and one event; start and stop "
            "records cannot be priced",
            help="bring the data to one record a person and drop MAX",
        )
    if source.rows < 2:
        yield Complaint("DPQL-E144", "a survival test needs at least two records", "on")
    for role, word in (("duration", "DURATION"), ("event", "EVENT")):
        found = source.role(role)  # type: ignore[arg-type]  # both words are column types
        if len(found) != 1:
            yield Complaint(
                "DPQL-E144",
                f"`{source.dataset}` declares {len(found)} columns of type {word}, not one",
                "on",
                help=f"declare exactly one {word} column",
            )
    for column in source.role("duration"):
        yield from _about_duration(column)


def _about_duration(column: Column) -> Iterator[Complaint]:
    if column.hi is None or column.lo is None:
        yield Complaint(
            "DPQL-E142",
            f"`{column.name}` has no upper end",
            "on",
            note="times beyond it are censored there, whatever they are",
            help=f"declare `{column.name} DURATION IN [0, hi]`",
        )
    elif column.lo != 0 or not 0 < column.hi <= LARGEST or float(column.hi) == 0.0:
        yield Complaint(
            "DPQL-E142",
            f"the range of `{column.name}` cannot be used",
            "on",
            note="durations begin at 0 and end at a positive number",
            help=f"declare `{column.name} DURATION IN [0, hi]`",
        )


def about_columns(facts: Facts) -> Iterator[Complaint]:
    """Whether every covariate is a number in a range that can be computed with."""
    if not facts.columns:
        yield Complaint(
            "DPQL-E141",
            "there is no covariate",
            "columns",
            note="numeric columns with a range and boolean columns without a role are taken by "
            "default",
            help="declare `REAL IN [lo, hi]` columns, or name some with `COLUMNS (...)`",
        )
    if len(facts.columns) > MOST_COVARIATES:
        yield Complaint(
            "DPQL-E141",
            f"a test takes at most {MOST_COVARIATES} covariates, not {len(facts.columns)}",
            "columns",
            help="name the columns that matter with `COLUMNS (...)`",
        )
        return
    domain = _domain(facts)
    if domain is not None and domain.radius is not None and domain.radius * LARGEST < 1:
        yield Complaint(
            "DPQL-E142",
            "the ball of NORM is too small to compute with",
            "columns",
            help="change the unit of its columns",
        )
    for place, column in enumerate(facts.columns):
        complaint = _kind_complaint(column) or _range_complaint(column, place, domain)
        if complaint is not None:
            yield complaint


def too_spread(most: Fraction, of: str) -> Complaint:
    """What is wrong with a `spread` above `most`, the largest there can be in these ranges."""
    return Complaint(
        "DPQL-E154",
        f"no {of} has so large a `spread` in the declared ranges",
        "spread",
        note="a standard deviation is at most half of what there is between the two ends",
        help=f"write at most `spread={shown(most, up=False, digits=4)}`, or leave it out",
    )


def _kind_complaint(column: Column) -> Complaint | None:
    kind = column.type.upper()
    if column.pattern:
        return Complaint(
            "DPQL-E141",
            f"the pattern `{column.name}` stands for many columns",
            "columns",
            help="name each covariate in the dataset",
        )
    if column.type not in NUMBERS:
        return Complaint(
            "DPQL-E141",
            f"`{column.name}` is a {kind} column, and cannot be a covariate",
            "columns",
            note="covariates are REAL, INTEGER, BOOLEAN or GENOTYPE",
            help=f"leave `{column.name}` out of COLUMNS; a category needs one BOOLEAN column for "
            "each level but the first",
        )
    return None


def _domain(facts: Facts) -> Domain | None:
    """The covariates' domain, or None where a range is missing or beyond what a double holds."""
    try:
        return covariate_domain(facts)
    except (ValueError, OverflowError):
        return None


def _range_complaint(column: Column, place: int, domain: Domain | None) -> Complaint | None:
    kind = column.type.upper()
    if column.bounds is None and domain is None:
        return Complaint(
            "DPQL-E142",
            f"`{column.name}` has no range",
            "columns",
            note="without one, a single record could move the result by any amount",
            help=f"declare `{column.name} {kind} IN [lo, hi]`",
        )
    bounds = column.bounds if domain is None else (domain.lo[place], domain.hi[place])
    if bounds is None or max(abs(bound) for bound in bounds) > LARGEST or not _has_room(*bounds):
        return Complaint(
            "DPQL-E142",
            f"the range of `{column.name}` is too narrow or too large to compute with",
            "columns",
            note="a computer's numbers must tell its ends apart",
            help="shift the column towards 0, or change its unit",
        )
    if domain is not None and not bounds[0] <= domain.center[place] <= bounds[1]:
        return Complaint(
            "DPQL-E142",
            f"the centre of NORM lies outside the range of `{column.name}`",
            "columns",
            help="declare a CENTER inside the ranges of the columns",
        )
    return None


def _has_room(lo: Fraction, hi: Fraction) -> bool:
    """Whether two doubles fit between the ends."""
    least, most = float(lo), float(hi)
    return math.nextafter(least, math.inf) < math.nextafter(most, -math.inf)
