"""An option at the edge of what it takes is planned, or refused in words; nothing breaks."""

from __future__ import annotations

import pytest

from dpql.api import plan
from suites.catalogue import at_the_edges, methods


@pytest.mark.parametrize("title", methods())
def test_a_number_at_the_edge_is_planned_or_refused(title: str) -> None:
    for text in at_the_edges(methods()[title]):
        made = plan(text)
        assert made.ok or any(one.code.startswith("DPQL-E") for one in made.diagnostics), text


def test_a_level_above_a_half_is_no_reason_to_warn_without_a_stated_effect() -> None:
    text = next(at_the_edges(methods()["TEST hazard"])).partition("TEST")[0]
    assert plan(f"{text}TEST hazard ON a VS b level=0.6 mu=5").ok
    seen = plan(f"{text}TEST hazard ON a VS b level=0.6 effect=0.01 mu=0.5").diagnostics
    assert "DPQL-W220" in [one.code for one in seen]


def test_shares_of_many_digits_are_refused_and_of_twelve_planned() -> None:
    def planned(places: int):
        share, cost = "0." + "123456789012"[:places].ljust(places, "7"), "0." + "1" * 24
        return plan(
            "DATASET d ROWS 1000 COLUMNS (a REAL IN [0, 1], b REAL IN [0, 1]) BUDGET rho=1\n"
            f"COVARIANCE pace strategy=entries diag={share} select={share} rho={cost} AS s"
        )

    assert planned(12).ok
    assert [one.code for one in planned(13).diagnostics] == ["DPQL-E043"] * 2
