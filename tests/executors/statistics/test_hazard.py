"""Leaves, trees, curves and tests of cumulative hazards, against values worked out elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from lifelines import NelsonAalenFitter

from executors.mechanisms.hazard.cost import HazardTestParams
from executors.pricing.hazard import (
    CurveParams,
    list_sensitivity,
    measured_numbers,
    needs,
    root_coefficients,
)
from executors.statistics import hazard_leaves
from executors.statistics.hazard_comparison import compare
from executors.statistics.hazard_curve import curve
from executors.statistics.hazard_leaves import STEPS, leaves
from executors.statistics.hazard_noise import deviations, upper_reach
from executors.statistics.hazard_site import SiteCurve, SiteValue, site_of
from executors.statistics.hazard_tree import measured, prefixes, to_prefixes
from planner.calculus.cost import Cost
from planner.calculus.inverse import solve
from planner.facts import Facts
from suites.hazard_cases import groups, source

TIME = (0.1, 0.2, 0.2, 0.35, 0.6, 0.6, 0.8, 0.9, 1.0, 1.3)
EVENT = (1, 1, 0, 1, 1, 1, 0, 1, 1, 1)


def site(hazard: Any, at_risk: Any, n: int = 1000, **more: Any) -> SiteCurve:
    """A release made up of these lists; `scale` is that of the hazard's noise, `counts` theirs."""
    scale, counts = more.pop("scale", 0.001), more.pop("counts", 0.01)
    law = more.pop("law", "gaussian")
    value = SiteValue(
        source="a",
        n=n,
        floor=more.pop("floor", n // 10),
        horizon=1.0,
        tree=more.pop("tree", "sqrt"),
        hazard=tuple(hazard),
        at_risk=tuple(at_risk),
    )
    return SiteCurve(value, np.array(hazard), np.array(at_risk), law, scale, law, counts)


@pytest.mark.parametrize(("floor", "last"), [(1, 0.833333333333333), (4, 0.5)])
def test_the_leaves_of_ten_records_are_as_worked_out_by_hand(floor: int, last: float) -> None:
    found = leaves(groups(TIME, EVENT), F(1), 4, floor)
    wanted = [0.211111111111111, 0.142857142857143, 0.366666666666667, last]
    assert [part / STEPS for part in found.hazard] == pytest.approx(wanted, abs=1e-14)
    assert [10 - sum(found.ended[:j]) for j in range(5)] == [10, 7, 6, 4, 1]


def test_the_leaves_add_up_to_the_smoothed_nelson_aalen_sum_of_lifelines() -> None:
    fitted = NelsonAalenFitter(nelson_aalen_smoothing=True).fit(TIME, EVENT)
    theirs = float(fitted.cumulative_hazard_at_times(1.0).iloc[0])
    ours = sum(leaves(groups(TIME, EVENT), F(1), 4, 1).hazard) / STEPS
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert theirs == pytest.approx(1.55396825396825, abs=1e-12)


def test_cleaning_a_noisy_curve_moves_it_neither_up_nor_down() -> None:
    bins, runs, scale = 32, 300, 0.1
    truth = np.arange(1, bins + 1) / bins
    at_risk = 1000 * np.exp(-truth)
    noise = scale * np.random.default_rng(4).standard_normal((2, runs, bins))
    found = [
        curve(site(truth + up, at_risk + 1000 * down, scale=scale, counts=100), 0.05, "hazard")
        for up, down in zip(*noise, strict=True)
    ]
    # A running maximum would be off by 0.08, a running minimum of the counts by 110.
    inner = slice(4, bins - 3)
    mean = np.mean([one.estimate[1:] for one in found], axis=0)
    assert np.abs(mean - truth)[inner].max() < 0.02
    assert np.abs(np.mean([one.at_risk[1:] for one in found], axis=0) - at_risk)[inner].max() < 20


def test_the_leaves_are_those_of_a_plain_loop_in_any_order_of_rows() -> None:
    rng = np.random.default_rng(3)
    time, event = np.round(rng.uniform(0, 7.5, 300), 1), rng.integers(0, 2, 300)
    wanted = [0] * 8
    ended = [0] * 8
    order = sorted(range(300), key=lambda i: (time[i], -event[i]))
    for rank, i in enumerate(order):
        place = max(0, math.ceil(F(float(time[i])) / F(6, 8)) - 1)
        if place < 8:
            wanted[place] += int(event[i]) * (STEPS // max(300 - rank, 30))
            ended[place] += 1
    shuffled = rng.permutation(300)
    found = leaves(groups(time[shuffled], event[shuffled]), F(6), 8, 30)
    assert found.hazard == tuple(wanted)
    at_end = sum(1 for i in range(300) if time[i] == 6.0 and not event[i])
    assert found.ended == (*ended[:7], ended[7] - at_end)


def test_events_are_taken_in_parts_that_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    table = groups(np.round(rng.uniform(0, 7, 200), 0), rng.integers(0, 2, 200))
    whole = leaves(table, F(6), 4, 3)
    monkeypatch.setattr(hazard_leaves, "_AT_ONCE", 7)
    assert leaves(table, F(6), 4, 3) == whole


def test_a_time_of_zero_is_in_the_first_bin_and_a_censoring_at_the_horizon_in_none() -> None:
    found = leaves(groups([0.0, 1.0, 1.0, 2.0], [1, 0, 1, 1]), F(1), 2, 1)
    assert found.ended == (1, 1)
    assert found.hazard == (STEPS // 4, STEPS // 3)


def test_no_events_give_zero_leaves() -> None:
    assert leaves(groups([0.2, 0.9], [0, 0]), F(1), 4, 1).hazard == (0, 0, 0, 0)


@pytest.mark.parametrize("bins", [1, 2, 5, 32])
def test_the_root_of_the_sum_applied_twice_is_the_sum(bins: int) -> None:
    f = root_coefficients(bins)
    assert all(sum(f[i] * f[k - i] for i in range(k + 1)) == 1 for k in range(bins))
    assert f[:4] == (F(1), F(1, 2), F(3, 8), F(5, 16))[:bins]


@pytest.mark.parametrize(("tree", "bins"), [("sqrt", 1), ("sqrt", 7), ("haar", 2), ("haar", 16)])
def test_what_is_measured_leads_back_to_the_sums(tree: Any, bins: int) -> None:
    numbers = np.random.default_rng(bins).integers(0, 1000, bins).tolist()
    found = measured(tree, numbers, F(1, 8))
    assert len(found) == measured_numbers(tree, bins)
    back = prefixes(tree, [float(value) for value in found])
    assert back == pytest.approx(np.cumsum(numbers) / 8, rel=1e-12)


def test_a_prefix_of_the_haar_tree_adds_one_node_a_binary_digit() -> None:
    matrix = to_prefixes("haar", 16)
    assert matrix.sum(axis=1).tolist() == [j.bit_count() for j in range(1, 16)] + [2]


def test_the_noise_of_the_square_root_is_two_to_three_times_less() -> None:
    wanted = {16: (5.7, 2.75), 32: (7.1, 3.07), 64: (8.5, 3.38), 128: (9.9, 3.69)}
    for bins, (haar, root) in wanted.items():
        for tree, value in (("haar", haar), ("sqrt", root)):
            moved = float(list_sensitivity(tree, bins, "gauss"))  # type: ignore[arg-type]
            largest = deviations(tree, "gaussian", bins, moved).max()  # type: ignore[arg-type]
            assert largest == pytest.approx(value, abs=0.06)


def test_the_leaves_of_two_sites_are_priced_apart() -> None:
    sites = (("north", 1000), ("south", 2000))
    facts = Facts(tuple(source(n, "d", name, sites=sites) for name, n in sites), ())
    wanted = needs(HazardTestParams(), facts, {"d.north": "eps_delta", "d.south": "mu"})
    costs = {"north": Cost("eps_delta", F(1), F(1, 10**6)), "south": Cost("mu", F(2, 5))}
    found = {}
    for name, cost in costs.items():
        loss = solve(tuple(need for need in wanted if need.site == name), cost)
        found[name] = [
            float(number)
            for leaf in loss.leaves
            for number in (leaf.param, leaf.sensitivity or 0, leaf.scale or 0)
        ]
    north = [0.211714834294171, 0.0208181429516152, 0.0983310546992]
    north += [0.105857417147085, 2.08181429516152, 19.6662109398]
    south = [0.357770876399966, 0.0104090714758076, 0.0290942392532]
    south += [0.178885438199983, 2.08181429516152, 11.6376957013]
    assert found["north"] == pytest.approx(north, rel=1e-11)
    assert found["south"] == pytest.approx(south, rel=1e-11)


def test_a_floor_of_nothing_divides_by_one_record_at_least() -> None:
    (hazard, _) = needs(CurveParams(floor=F(0)), Facts((source(50),), ()), {})
    assert hazard.sensitivity is not None
    assert hazard.sensitivity() == list_sensitivity("sqrt", 32, "gauss")


def test_the_reach_of_laplace_noise_is_its_quantile() -> None:
    """One node: the 95 % quantile of a Laplace law is log(10) scales."""
    reach = upper_reach("haar", "laplace", 2, 3.0)
    assert reach[0] == pytest.approx(3 * math.log(10), rel=0.03)
    gauss = upper_reach("haar", "gaussian", 2, 3.0)
    assert gauss[0] == pytest.approx(3 * 1.6448536, rel=1e-6)


# --- curves --------------------------------------------------------------------------------------


def test_a_curve_without_noise_is_the_fleming_harrington_curve() -> None:
    hazard, at_risk = [0.1, 0.3, 0.6, 0.8], [900.0, 700.0, 500.0, 300.0]
    found = curve(site(hazard, at_risk, scale=1e-12, counts=1e-12), 0.05, "survival")
    assert found.estimate == pytest.approx(np.exp([0.0, *(-value for value in hazard)]))
    sd = math.sqrt(0.1 * (1 / 1000 + 1 / 900) / 2 + 0.2 * (1 / 900 + 1 / 700) / 2)
    assert found.lower[2] == pytest.approx(math.exp(-0.3 - 1.959963984540054 * sd))
    assert found.upper[2] == pytest.approx(math.exp(-0.3 + 1.959963984540054 * sd))
    assert found.time.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert found.at_risk == (1000, 900, 700, 500, 300)
    assert found.reliable_to == 1.0


def test_a_noisy_curve_never_rises_and_stays_in_its_band() -> None:
    rng = np.random.default_rng(4)
    for scale in ("survival", "hazard"):
        for _ in range(20):
            noisy = site(
                np.linspace(0.1, 1, 16) + rng.normal(0, 0.3, 16),
                np.linspace(950, 300, 16) + rng.normal(0, 80, 16),
                scale=0.3,
                counts=80.0,
                law=rng.choice(["gaussian", "laplace"]),
                tree="haar",
            )
            found = curve(noisy, 0.05, scale)  # type: ignore[arg-type]
            steps = np.diff(found.estimate)
            assert (steps <= 0).all() if scale == "survival" else (steps >= 0).all()
            assert (found.lower <= found.estimate).all()
            assert (found.estimate <= found.upper).all()
            assert (found.lower >= 0).all()
            assert scale == "hazard" or (found.upper <= 1).all()
            assert list(found.at_risk) == sorted(found.at_risk, reverse=True)


def test_a_curve_is_reliable_while_surely_enough_are_at_risk() -> None:
    reach = 1.6448536269514722 * deviations("sqrt", "gaussian", 4, 1.0)[1]
    for above, wanted in ((reach + 1e-6, 4), (reach - 1e-6, 1)):
        made = site([0.1] * 4, [800.0, 100.0 + above, 800.0, 200.0], counts=1.0)
        assert made.reliable() == wanted
    assert site([0.1] * 4, [101.0] * 4, counts=1.0).reliable() == 0
    assert site([0.1] * 4, [500.0] * 4, counts=1.0).reliable() == 4


# --- the test of two -----------------------------------------------------------------------------


def test_equal_curves_are_not_rejected_and_far_ones_are() -> None:
    hazard, at_risk = np.linspace(0.1, 1, 8), np.linspace(900, 300, 8)
    same = compare(site(hazard, at_risk), site(hazard, at_risk), 0.05)
    assert (same.statistic, same.p_value, same.reach) == (0.0, 1.0, 8)
    other = compare(site(hazard, at_risk), site(1.6 * hazard, at_risk), 0.05)
    assert other.p_value == pytest.approx(1 / 4001)
    assert other.statistic == pytest.approx(0.6)


def test_where_nothing_is_reliable_the_test_is_inconclusive() -> None:
    few = site([0.5, 0.9], [90.0, 80.0])
    found = compare(few, site([0.1, 0.2], [900.0, 800.0]), 0.05)
    assert not found.is_conclusive
    assert (found.p_value, found.reach, found.threshold) == (1.0, 0, None)


def test_only_reliable_times_are_compared() -> None:
    first = site([0.1, 0.2, 9.0, 9.5], [900.0, 800.0, 50.0, 40.0])
    second = site([0.1, 0.2, 0.3, 0.4], [900.0, 800.0, 700.0, 600.0])
    found = compare(first, second, 0.05)
    assert (found.reach, found.statistic) == (2, 0.0)


def test_p_values_are_even_where_the_noise_is_all_there_is() -> None:
    """Two curves with laws of their own; the null draws and the test's own are independent."""
    rng = np.random.default_rng(8)
    matrix = to_prefixes("haar", 8)
    at_risk = np.linspace(900, 300, 8)
    p = []
    for _ in range(400):
        one = matrix @ rng.normal(0, 0.2, 14)
        two = matrix @ rng.laplace(0, 0.3, 14)
        first = site(one, at_risk, scale=0.2, tree="haar", n=10**6, floor=1)
        second = site(two, at_risk, scale=0.3, tree="haar", n=10**6, floor=1, law="laplace")
        p.append(compare(first, second, 0.05, draws=1000).p_value)
    below = np.mean(np.array(p) <= 0.1)
    assert below == pytest.approx(0.1, abs=4 * math.sqrt(0.09 / 400))


# --- releases as files ---------------------------------------------------------------------------


def release(**changes: Any) -> dict[str, Any]:
    value = {
        "source": "a",
        "n": 100,
        "floor": 10,
        "horizon": 1.0,
        "tree": "haar",
        "hazard": [0.1, 0.2],
        "at_risk": [90.0, 80.0],
        **changes,
    }
    noise = [
        {"law": "discrete_gaussian", "scale": 0.1, "role": "hazard"},
        {"law": "discrete_laplace", "scale": 3.0, "role": "at_risk"},
    ]
    return {"value": value, "noise": noise}


def test_a_release_is_read_back_with_its_laws() -> None:
    found = site_of(release())
    assert (found.hazard_law, found.at_risk_law, found.at_risk_scale) == (
        "gaussian",
        "laplace",
        3.0,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"hazard": [0.1]},
        {"hazard": [0.1, float("nan")]},
        {"at_risk": [90.0, float("inf")]},
        {"hazard": [1e308, -1e308]},
        {"at_risk": [1e101, 80.0]},
        {"hazard": ["0.1", 0.2]},
        {"hazard": [True, 0.2]},
        {"hazard": [], "at_risk": []},
        {"hazard": [0.1] * 3, "at_risk": [9.0] * 3},
        {"hazard": [0.1] * 513, "at_risk": [9.0] * 513},
        {"n": 1},
        {"floor": 0},
        {"floor": 101},
        {"horizon": 0.0},
        {"tree": "oak"},
        {"rows": []},
    ],
)
def test_what_is_no_release_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        site_of(release(**changes))


@pytest.mark.parametrize(
    "noise",
    [
        [],
        [{"law": "none", "scale": 1.0, "role": "hazard"}],
        [{"law": "discrete_gaussian", "scale": 0.0, "role": "hazard"}],
        [{"law": "discrete_gaussian", "scale": float("inf"), "role": "hazard"}],
        [{"law": "discrete_gaussian", "scale": 1.0, "role": "hazard"}] * 2,
        None,
        [None],
        [{}],
        [{"law": [], "scale": 1.0, "role": "hazard"}],
        [{"law": "discrete_gaussian", "scale": None, "role": "hazard"}],
        [{"law": "discrete_gaussian", "scale": 10**400, "role": "hazard"}],
        [{"law": "discrete_gaussian", "scale": 1.0, "role": {}}],
    ],
)
def test_a_release_without_its_two_laws_is_refused(noise: Any) -> None:
    with pytest.raises(ValueError):
        site_of({**release(), "noise": noise})
    with pytest.raises(ValueError, match="no release of a curve"):
        site_of({"noise": noise})
