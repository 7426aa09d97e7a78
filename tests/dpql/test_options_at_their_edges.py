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
