"""Forecasts of a peeling against simulated power and hand-computed tables."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest

from executors.mechanisms.peel import MECHANISM
from executors.mechanisms.peel.breakeven import needed
from executors.mechanisms.peel.forecast import forecast, resolve
from executors.mechanisms.peel.params import EvaluesParams
from executors.mechanisms.peel.power import Alternatives, power
from planner.calculus.cost import Cost
from planner.facts import Column, Facts, SourceFacts


def foreseen(rows: int, sensitivity: str, cost: Cost, **written: Any) -> dict[str, Any]:
    column = Column("log_e", "log_evalue", sensitivity=Fraction(sensitivity), asserted_by="J. Doe")
    about = Facts((SourceFacts("hits", rows, (column,)),), ())
    params = resolve(EvaluesParams(**written), about, cost)
    needs = MECHANISM.need(params, about, {"hits": cost.unit})
    assert MECHANISM.solve is not None
    found = forecast(params, about, MECHANISM.solve(params, about, needs, cost))
    json.dumps(found, allow_nan=False)
    return found


MU = Cost("mu", Fraction(1))
HALF = Cost("mu", Fraction(1, 2))
DESIGNS = [
    # hypotheses, signals, strength, sensitivity, cost; power at size 100, adaptive, no floor
    (1000, 50, 8, "0.3", MU, 0.990, 0.996, 0.990),
    (1000, 50, 5, "0.1", MU, 0.910, 0.918, 0.910),
    (1000, 100, 5, "0.1", MU, 0.923, 0.923, 0.923),
    (5000, 50, 8, "0.2", HALF, 0.846, 0.864, 0.921),
]


@pytest.mark.parametrize("design", DESIGNS)
def test_power_agrees_with_simulations(design: Any) -> None:
    rows, signals, strength, sensitivity, cost, fixed, adaptive, bare = design
    assumed = {"signals": signals, "strength": Fraction(strength)}
    at_100 = foreseen(rows, sensitivity, cost, size=100, **assumed)
    assert at_100["power"] == pytest.approx(fixed, abs=0.002)
    base = math.log(rows / 0.05) + at_100["log_k"]
    unlifted = Alternatives(rows, signals, strength, floor=-math.inf)
    found = power(unlifted, 100, at_100["gumbel_scale"], at_100["sigma"], base)
    assert found == pytest.approx(bare, abs=0.002)
    chosen = foreseen(rows, sensitivity, cost, adaptive=True, **assumed)
    # Simulated over 300 repetitions: standard error below 0.006.
    assert chosen["power"] == pytest.approx(adaptive, abs=0.012)


def test_evidence_needed_at_the_scale_of_a_genome() -> None:
    """6.2 million hypotheses, level 0.05, mu = 1: needed evidence and floor, by size."""
    for sensitivity, rows in (
        ("0.1", {10: (15.8, 8.4), 100: (13.5, 21.9), 1000: (17.7, 54.7)}),
        ("0.3", {10: (15.8, 25.1), 100: (19.2, 65.6), 1000: (83, 164)}),
    ):
        for size, (evidence, floor) in rows.items():
            found = foreseen(6_200_000, sensitivity, MU, size=size)
            assert found["needed"] == pytest.approx(evidence, abs=0.5 if evidence > 50 else 0.06)
            assert found["floor"] == pytest.approx(floor, abs=0.5 if floor > 100 else 0.06)


def test_without_assumptions_there_is_a_table_and_no_power() -> None:
    found = foreseen(1000, "0.3", MU, size=50)
    assert "power" not in found
    assert "best_size" not in found
    assert {"size", "sigma", "gumbel_scale", "needed", "floor"} <= set(found["sizes"][0])
    assert 50 in [row["size"] for row in found["sizes"]]
    assert found["sigma"] == pytest.approx(2.738612788)
    assert found["gumbel_scale"] == pytest.approx(4.203360572)
    assert found["log_k"] == pytest.approx(-1.981225840)
    assert found["all_released"]["sigma"] == pytest.approx(0.3 * 1000**0.5)


def test_the_best_size_is_the_most_powerful_row() -> None:
    found = foreseen(1000, "0.3", MU, size=50, signals=50, strength=Fraction(8))
    best = max(found["sizes"], key=lambda row: row["power"])
    assert found["best_size"] == best["size"]
    assert 50 <= best["size"] <= 70


def test_the_allowance_of_a_fixed_size_is_found_again_in_both_units() -> None:
    for cost in (
        MU,
        Cost("rho", Fraction(1, 2)),
        Cost("eps_delta", Fraction(3), Fraction(1, 1000)),
    ):
        found = foreseen(1000, "0.3", cost, size=50)
        row = next(row for row in found["sizes"] if row["size"] == 50)
        again = foreseen(1000, "0.3", cost, size=60)
        other = next(row for row in found["sizes"] if row["size"] == 60)
        assert row["gumbel_scale"] == pytest.approx(found["gumbel_scale"], rel=1e-6)
        assert other["gumbel_scale"] == pytest.approx(again["gumbel_scale"], rel=1e-6)
        assert other["sigma"] == pytest.approx(again["sigma"], rel=1e-6)


def test_drowned_statements_are_warned() -> None:
    loud = foreseen(1000, "0.3", HALF, size=500)
    (warning,) = loud["warnings"]
    assert warning["code"] == "DPQL-W226"
    assert "150 nats" in warning["message"]
    blunt = foreseen(6_200_000, "0.3", MU, size=100)
    assert "sharp only above 66 nats" in blunt["warnings"][0]["message"]
    assert "larger `share`" in blunt["warnings"][0]["help"]
    calm = foreseen(1000, "0.05", MU, size=30)
    assert calm["warnings"] == []
    strong = foreseen(1000, "0.3", MU, size=100, signals=50, strength=Fraction(8))
    assert strong["warnings"] == []
    hopeless = foreseen(1000, "40", Cost("mu", Fraction(1, 10)), adaptive=True)
    assert hopeless["warnings"][0]["help"] == "raise the cost of this statement"


def test_the_smaller_size_that_is_advised_is_calm() -> None:
    found = foreseen(1000, "0.3", MU, size=60)
    advised = int(found["warnings"][0]["help"].split("size=")[1].split("`")[0])
    assert advised < 60
    assert foreseen(1000, "0.3", MU, size=advised)["warnings"] == []


def test_the_plain_rule_is_foreseen_to_find_less() -> None:
    assumed = {"signals": 50, "strength": Fraction(5), "size": 100}
    plain = foreseen(1000, "0.1", MU, rule="plain", **assumed)
    boosted = foreseen(1000, "0.1", MU, **assumed)
    assert plain["power"] == pytest.approx(0.858, abs=0.01)
    assert plain["power"] < boosted["power"]
    assert plain["needed"] > boosted["needed"]


def test_needed_evidence_is_the_border_of_half() -> None:
    """With that evidence and no selection about half of the hypotheses pass, so power is there."""
    sigma, size, m = 0.8, 20, 20
    evidence = needed(size, sigma, m, 0.05, True)
    assert 0 < evidence < 5
    strong = Alternatives(m, m, 20.0)
    assert power(strong, m, None, sigma, base=3.0) == pytest.approx(1.0, abs=1e-6)


def test_nothing_to_find_is_no_power() -> None:
    weak = Alternatives(1000, 5, 0.1)
    assert power(weak, 10, 5.0, 3.0, base=12.0) < 1e-3
