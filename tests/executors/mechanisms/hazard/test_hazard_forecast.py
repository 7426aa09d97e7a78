"""What a plan says of a comparison before any row is read."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpql.api import plan
from suites.queries import findings

HEAD = "".join(
    f"DATASET {name} ROWS {{rows}} COLUMNS (t DURATION IN [0, 1], e EVENT)\n" for name in "ab"
)
TABLE = [
    (500, 1, 1.5, 0.190),
    (500, 4, 1.25, 0.320),
    (500, 4, 1.5, 0.890),
    (1000, 1, 1.25, 0.178),
    (1000, 1, 1.5, 0.528),
    (1000, 4, 1.25, 0.822),
    (2000, 1, 1.25, 0.670),
    (2000, 1, 1.5, 0.998),
    (4000, 1, 1.25, 0.998),
]
"""n a site, eps at delta = 1e-5, hazard ratio, share of 400 simulated studies that rejected."""


def forecast(options: str, rows: int = 1000) -> dict[str, Any]:
    made = plan(HEAD.format(rows=rows) + f"TEST hazard ON a VS b {options}")
    found: dict[str, Any] = made.json()["statements"][0]["forecast"]
    return found


@pytest.mark.parametrize(("rows", "eps", "ratio", "share"), TABLE)
def test_the_forecast_is_near_the_simulated_power(
    rows: int, eps: int, ratio: float, share: float
) -> None:
    effect = f"{math.log(ratio):.6f}"
    found = forecast(f"effect={effect} censoring=[0.3, 0.8] BUDGET eps={eps}, delta=1e-5", rows)
    assert -0.07 <= found["power"] - share <= 0.1


def test_without_an_effect_there_is_no_power_but_the_least_effect_is_told() -> None:
    found = forecast("mu=1")
    assert "power" not in found
    again = forecast(f"effect={found['detectable_effect']} BUDGET mu=1")
    assert again["power"] == pytest.approx(0.8, abs=0.02)
    assert again["power_error"] == pytest.approx(0.0063, abs=0.0005)
    assert again["detectable_effect"] == pytest.approx(found["detectable_effect"], abs=0.002)


def test_a_protective_effect_has_a_least_size_of_its_own_sign() -> None:
    found = forecast("effect=-0.5 BUDGET mu=1")
    assert found["detectable_effect"] < 0
    again = forecast(f"effect={found['detectable_effect']} BUDGET mu=1")
    assert again["power"] == pytest.approx(0.8, abs=0.02)


def test_a_dearer_budget_sees_more_and_has_less_noise_against_sampling() -> None:
    cheap, dear = (forecast(f"effect=0.3 BUDGET mu={mu}") for mu in ("0.3", "1"))
    assert dear["power"] > cheap["power"]
    assert dear["noise_to_sampling"] < cheap["noise_to_sampling"]
    assert dear["detectable_effect"] < cheap["detectable_effect"]


def test_a_test_that_cannot_succeed_says_so_before_it_spends() -> None:
    for options in ("effect=0.05 BUDGET mu=0.2", "effect=0.05 BUDGET mu=0.001"):
        made = plan(HEAD.format(rows=500) + f"TEST hazard ON a VS b {options}")
        assert "DPQL-W220" in {one.code for one in made.diagnostics}


def test_what_is_expected_can_be_asked_of_power() -> None:
    text = HEAD.format(rows=1000) + "TEST hazard ON a VS b effect=0.3 BUDGET mu=1 AS h\n"
    assert plan(text + "EXPECT h.power >= 0.8").ok
    refused = plan(text + "EXPECT h.power >= 0.9999")
    assert "DPQL-E072" in {one.code for one in refused.diagnostics}


def test_a_cost_of_auto_is_found_for_each_source() -> None:
    head = HEAD.format(rows=1000).replace("e EVENT)", "e EVENT) BUDGET mu=2")
    text = head + "TEST hazard ON a VS b effect=0.5 BUDGET auto AS h\nEXPECT h.power >= 0.8"
    made = plan(text)
    assert made.ok, made
    (statement,) = made.json()["statements"]
    assert 0.8 <= statement["forecast"]["power"] < 0.83
    assert [paid["dataset"] for paid in statement["cost"]] == ["a", "b"]


def test_the_horizon_is_the_earlier_end_of_two_ranges() -> None:
    text = HEAD.format(rows=1000).replace(
        "[0, 1], e EVENT)\nDATASET b", "[0, 2], e EVENT)\nDATASET b"
    )
    made = plan(text + "TEST hazard ON a VS b mu=1")
    assert made.json()["body"]["statements"][0]["params"]["horizon"] == {"auto": "1"}
    beyond = text + "TEST hazard ON a VS b horizon=1.5 mu=1"
    assert "DPQL-E153" in {one.code for one in findings(beyond)}


def test_a_curve_says_how_far_and_how_well_it_will_be_known() -> None:
    one = "DATASET a ROWS 1000 COLUMNS (t DURATION IN [0, 1], e EVENT)\n"
    for method in ("survival", "hazard"):
        few, many = (
            plan(f"{one}RELEASE {method} BUDGET mu={mu}").json()["statements"][0]["forecast"]
            for mu in ("0.1", "1")
        )
        assert many["half_width"] < few["half_width"]
        assert many["reliable_to"] == 1.0
        assert many["noise_to_sampling"] < few["noise_to_sampling"]
    made = plan(f"{one}RELEASE survival BUDGET mu=0.001")
    assert "DPQL-W221" in {finding.code for finding in made.diagnostics}


def test_a_band_that_noise_makes_useless_is_warned_of() -> None:
    one = "DATASET a ROWS 500 COLUMNS (t DURATION IN [0, 1], e EVENT)\n"
    for method in ("survival", "hazard"):
        wide, narrow = (plan(f"{one}RELEASE {method} mu={mu}") for mu in ("0.1", "1"))
        assert [finding.code for finding in wide.diagnostics] == ["DPQL-W222"]
        assert not narrow.diagnostics
        # Too few records alone are no fault of the budget.
        few = plan(
            f"DATASET a ROWS 5 COLUMNS (t DURATION IN [0, 1], e EVENT)\nRELEASE {method} mu=50"
        )
        assert "DPQL-W222" not in {finding.code for finding in few.diagnostics}
