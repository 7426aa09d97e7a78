"""What the functions of a released covariance take."""

from __future__ import annotations

from collections.abc import Sequence

from planner.facts import Facts
from planner.findings import choices
from planner.mechanism import Complaint

__all__ = ["COVARIANCES", "column_complaints"]

COVARIANCES = (
    "COVARIANCE pace",
    "COVARIANCE ssp",
    "COVARIANCE diagonal",
    "COVARIANCE adaptive",
)
"""The measurements that release a matrix with its columns, units and table of measurements."""


def column_complaints(names: Sequence[str], facts: Facts, option: str) -> tuple[Complaint, ...]:
    """One complaint for each name that the release does not have, or that is named twice."""
    known = [column.name for column in facts.columns]
    found = [
        Complaint(
            "DPQL-E160",
            f"the release has no column `{name}`",
            option,
            note="a function of DERIVE sees the columns of its release, not those of the dataset",
            help=choices(name, known, "its columns"),
        )
        for name in dict.fromkeys(names)
        if name not in known
    ]
    found += [
        Complaint("DPQL-E160", f"`{option}` names `{name}` twice", option)
        for name in dict.fromkeys(names)
        if list(names).count(name) > 1
    ]
    return tuple(found)
